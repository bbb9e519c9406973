// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.counters;

/** Classes of loss and congestion; {@link KnownCounters} has their counters. */
public enum CounterClass {
  LOST("lost packets", "packets were dropped at this port", Cause.LOSS),
  DAMAGED("damaged packets", "the link damaged data or went down", Cause.CABLE),
  RETRANSMIT(
      "retransmits",
      "packets or their acknowledgements did not arrive and were sent again",
      Cause.LOSS),
  OUT_OF_SEQUENCE(
      "out of sequence",
      "packets arrived out of order, so some before them were lost or took a longer way",
      Cause.LOSS),
  ECN("ECN marks", "switches marked packets to this port as congested", Cause.CONGESTION),
  CNP("CNPs", "receivers asked senders to slow down", Cause.CONGESTION),
  /** On InfiniBand a port waits for credits instead; on Ethernet see {@link Ethtool}. */
  PAUSE(
      "pause frames",
      "a receiver was full, so its sender had to stop for a moment",
      Cause.CONGESTION);

  private final String title;
  private final String meaning;
  private final Cause cause;

  CounterClass(String title, String meaning, Cause cause) {
    this.title = title;
    this.meaning = meaning;
    this.cause = cause;
  }

  private enum Cause {
    LOSS(
        "if it grows during jobs, make the network lossless for RDMA: PFC or ECN on all switches and"
            + " hosts, and the same spark.shuffle.rdma.tos everywhere"),
    CABLE("look at cable, transceiver and switch port"),
    CONGESTION(
        "normal in short bursts; if it grows all the time, more data is sent to a port than it can"
            + " take: look at speeds of links and at other users of the network");

    private final String advice;

    Cause(String advice) {
      this.advice = advice;
    }
  }

  /** Its name in findings. */
  public String title() {
    return title;
  }

  /** A sentence without its full stop. */
  public String meaning() {
    return meaning;
  }

  /** A remedy, or where to look. */
  public String advice() {
    return cause.advice;
  }
}
