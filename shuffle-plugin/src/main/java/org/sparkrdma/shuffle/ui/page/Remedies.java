// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.page;

import java.util.Arrays;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Meaning of each reason of a fallback, and what to do about it. Stateless. */
final class Remedies {
  private Remedies() {}

  /** Meaning of a reason; empty for one of a later version. */
  static String meaning(String label) {
    return find(label) == null ? "" : meaning(find(label));
  }

  /** Advice to the user; for a reason of a later version, where to look. */
  static String remedy(String label) {
    return find(label) == null
        ? "See docs/metrics.md of the plug-in's version."
        : remedy(find(label));
  }

  private static FallbackReason find(String label) {
    return Arrays.stream(FallbackReason.values())
        .filter(reason -> reason.label().equals(label))
        .findFirst()
        .orElse(null);
  }

  private static String meaning(FallbackReason reason) {
    return switch (reason) {
      case UNAVAILABLE -> "Reads (not blocks) of executors without RDMA, by Spark's own reader.";
      case NO_ENDPOINT ->
          "The peer has no RDMA or has ended, or the driver did not name its endpoint in time.";
      case INCOMPATIBLE -> "The peer uses another engine or another version of the plug-in.";
      case REFUSED -> "The peer refused the connection, or its proof failed.";
      case CONNECT_FAILED ->
          "No connection within connect.timeout: it failed, goes on, or waits (attempts.max).";
      case QUARANTINED -> "The peer was quarantined after a failure, or tested after that.";
      case READ_ERROR -> "A READ completed with an error, or the fetch failed in the executor.";
      case TIMEOUT -> "The request timed out.";
      case LOST_PEER -> "The connection was lost twice during the request.";
      case PEER_BUSY ->
          "The peer had no memory to register or copy, or no room for another connection.";
      case PEER_OVERLOADED ->
          "Too many requests waited at the peer, or a disk of it was slower than 1 MB/s.";
      case PEER_UNKNOWN_BLOCK -> "The peer could not find or read the block.";
      case POOL_EMPTY -> "No receive memory or connection was free, or the block was too large.";
      case CORRUPT -> "A checksum did not match, and TCP brought other bytes or none.";
      case CHECKSUM_UNUSABLE -> "The recorded checksum was wrong, the bytes were right.";
      case PROTOCOL_ERROR -> "The peer violated the protocol.";
      case DISK -> "The block could not be written to the local disk, or not in time.";
      case STOPPED -> "The executor was stopping.";
    };
  }

  private static String remedy(FallbackReason reason) {
    return switch (reason) {
      case UNAVAILABLE ->
          "Run the command doctor of the plug-in's jar on that host; it names each cause.";
      case NO_ENDPOINT ->
          "Nothing when executors come and go; look for executors without RDMA, else for a slow driver.";
      case INCOMPATIBLE -> "Use one version of the plug-in and one engine on all hosts.";
      case REFUSED -> "Nothing when executors restarted; else look at the peer's log.";
      case CONNECT_FAILED ->
          "Run doctor --peer HOST; when only the start of stages has it, see attempts.max.";
      case QUARANTINED -> "Look for the failure before it: the executor's log has it at INFO.";
      case READ_ERROR -> "Look at the executor's log, and at the error counters of the port.";
      case TIMEOUT -> "Look for loss and congestion on the network (docs/networks.md).";
      case LOST_PEER -> "Look whether the peer ended; if not, at its log.";
      case PEER_BUSY ->
          "Raise spark.shuffle.rdma.pinned.max; if the log says too many connections, connections.max.";
      case PEER_OVERLOADED -> "Look for slow disks at the peer; more local directories help.";
      case PEER_UNKNOWN_BLOCK -> "Nothing: Spark computes lost map outputs again.";
      case POOL_EMPTY ->
          "Raise spark.shuffle.rdma.pinned.max; if the log says too many connections, connections.max.";
      case CORRUPT -> "Look at the memory and the card of both hosts.";
      case CHECKSUM_UNUSABLE -> "Nothing: the bytes were compared with those that TCP brought.";
      case PROTOCOL_ERROR -> "Report it, with the logs of both executors.";
      case DISK -> "Look at the free space of spark.local.dir.";
      case STOPPED -> "Nothing.";
    };
  }
}
