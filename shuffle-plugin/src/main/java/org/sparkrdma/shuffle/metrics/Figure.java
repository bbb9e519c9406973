// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

/**
 * Figures of an executor that the driver shows. The label is the name of the figure in messages to
 * the driver and in event logs, so it never changes.
 */
public enum Figure {
  /** State of RDMA: {@code up}, {@code off}, {@code starting}, {@code restarting}, stopped. */
  STATE("state"),
  /** Reasons why RDMA is not used, as one text. */
  REASONS("reasons"),
  /** Name of the engine. */
  ENGINE("engine"),
  /** Name of the device. */
  DEVICE("device"),
  /** Addresses where peers connect, as one text. */
  ADDRESSES("addresses"),
  /** Bytes that are pinned now. */
  PINNED("pinned"),
  /** Highest number of bytes that were pinned at one time. */
  PINNED_HIGHEST("highest"),
  /** Maximum number of pinned bytes. */
  PINNED_LIMIT("limit"),
  /** Connections that are established now. */
  CONNECTIONS("connections"),
  /** Quarantines of peers since the start of the executor. */
  QUARANTINES("quarantines"),
  /** Bytes delivered to tasks by READ. */
  READ("read"),
  /** Of those by READ, bytes of executors that have ended. */
  ENDED("ended"),
  /** Bytes of broadcast variables that came by READ, which Spark counts for no task. */
  BROADCAST("broadcast"),
  /** Bytes located for peers in copies. */
  COPIED("copied"),
  /** Bytes delivered to tasks by TCP through the plug-in. */
  TCP("tcp"),
  /** Bytes delivered to tasks by TCP although this executor and the peer use RDMA. */
  TCP_FALLBACK("tcpFallback"),
  /** Microseconds within which half of the READs completed. */
  LATENCY_P50_US("p50us"),
  /** Microseconds within which 99 of 100 READs completed. */
  LATENCY_P99_US("p99us");

  /** Begins the name of a figure that counts fallbacks; the label of the reason follows. */
  public static final String FALLBACK = "fallback.";

  /** Name of {@link ShuffleCounters.StageReads#report}, which the driver adds up. */
  public static final String STAGES = "stages";

  /** Name of the list of the doctor's findings, which the driver logs. */
  public static final String FINDINGS = "findings";

  private final String label;

  Figure(String label) {
    this.label = label;
  }

  /** Name in messages and event logs. */
  public String label() {
    return label;
  }
}
