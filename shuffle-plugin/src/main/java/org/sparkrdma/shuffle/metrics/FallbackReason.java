// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

/**
 * Reason why blocks used TCP although the plug-in is on; users see the label. The comment of each
 * is its meaning in docs/metrics.md.
 */
public enum FallbackReason {
  /** Shuffle reads that Spark's own reader did, because this executor has no RDMA. */
  UNAVAILABLE("unavailable"),
  /** The directory has no endpoint of the executor, or did not answer in time. */
  NO_ENDPOINT("no-endpoint"),
  /** The executor's endpoint is of another engine or version. */
  INCOMPATIBLE("incompatible"),
  /** The connection was refused, or the peer's proof failed. */
  REFUSED("refused"),
  /**
   * No connection within {@code connect.timeout}: the attempt failed, goes on in the background, or
   * waited for its turn.
   */
  CONNECT_FAILED("connect-failed"),
  /** The peer is quarantined, or is tested after that. */
  QUARANTINED("quarantined"),
  /**
   * A work request completed with an error, or the fetch failed inside the executor (see its log).
   */
  READ_ERROR("read-error"),
  /** The request timed out. */
  TIMEOUT("timeout"),
  /** The connection was lost twice during the request. */
  LOST_PEER("lost-peer"),
  /**
   * The peer answered BUSY: it had no memory to register or copy, or no room for another connection
   * ({@code connections.max}).
   */
  PEER_BUSY("peer-busy"),
  /**
   * Too many requests wait at the peer, and it answered "fetch by TCP"; or its answers came slowly,
   * because of load or a slow disk.
   */
  PEER_OVERLOADED("peer-overloaded"),
  /** The peer cannot find or read the block, and answered "fetch by TCP". */
  PEER_UNKNOWN_BLOCK("peer-unknown-block"),
  /**
   * No receive memory was free for a second, no connection was free, or the block is larger than
   * the receive memory; the executor's INFO line has the detail.
   */
  POOL_EMPTY("pool-empty"),
  /** A checksum did not match, and TCP delivered other bytes or none. */
  CORRUPT("corrupt"),
  /** A checksum did not match, and TCP delivered the same bytes: the recorded checksum is wrong. */
  CHECKSUM_UNUSABLE("checksum-unusable"),
  /** The peer violated the protocol. */
  PROTOCOL_ERROR("protocol-error"),
  /**
   * Spark wants the block on disk, because it is large ({@code
   * spark.maxRemoteBlockSizeFetchToMem}).
   */
  DISK("disk"),
  /** The executor is stopping. */
  STOPPED("stopped");

  private final String label;

  FallbackReason(String label) {
    this.label = label;
  }

  /** Name in counters, logs and reports. */
  public String label() {
    return label;
  }

  /** Whether the reader or its peer has no RDMA, so that the blocks are no failures of RDMA. */
  public boolean isWithoutRdma() {
    return this == UNAVAILABLE || this == NO_ENDPOINT;
  }
}
