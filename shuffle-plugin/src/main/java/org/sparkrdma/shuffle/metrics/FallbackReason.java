// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

/** Reason why blocks used TCP although the plug-in is on; users see the label. */
public enum FallbackReason {
  /** This executor has no RDMA; Spark's own reader ran. */
  UNAVAILABLE("unavailable"),
  /** The directory has no endpoint of the executor. */
  NO_ENDPOINT("no-endpoint"),
  /** The executor's endpoint is of another engine or version. */
  INCOMPATIBLE("incompatible"),
  /** The connection was refused, or the peer's proof failed. */
  REFUSED("refused"),
  /** No connection within the time that blocks wait; the attempt may go on. */
  CONNECT_FAILED("connect-failed"),
  /** The peer is quarantined. */
  QUARANTINED("quarantined"),
  /** A work request completed with an error. */
  READ_ERROR("read-error"),
  /** The request timed out. */
  TIMEOUT("timeout"),
  /** The connection was lost twice during the request. */
  LOST_PEER("lost-peer"),
  /** The peer answered BUSY: it had no memory to register or copy. */
  PEER_BUSY("peer-busy"),
  /** Too many requests wait at the peer, and it answered "fetch by TCP". */
  PEER_OVERLOADED("peer-overloaded"),
  /** The peer cannot find or read the block, and answered "fetch by TCP". */
  PEER_UNKNOWN_BLOCK("peer-unknown-block"),
  /** No receive memory was free. */
  POOL_EMPTY("pool-empty"),
  /** A checksum did not match, and TCP delivered other bytes or none. */
  CORRUPT("corrupt"),
  /** A checksum did not match, and TCP delivered the same bytes: the recorded checksum is wrong. */
  CHECKSUM_UNUSABLE("checksum-unusable"),
  /** The peer violated the protocol. */
  PROTOCOL_ERROR("protocol-error"),
  /** The block could not be written to the local disk. */
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
}
