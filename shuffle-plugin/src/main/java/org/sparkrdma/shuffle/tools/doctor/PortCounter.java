// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Counters of loss and congestion in {@code hw_counters} and {@code counters} of a port. Their
 * names are those of the drivers mlx5 and rxe, and of the InfiniBand specification.
 */
enum PortCounter {
  OUT_OF_SEQUENCE("packets arrived out of order, so some were lost or overtaken", Cause.LOSS),
  PACKET_SEQ_ERR("a peer missed packets of this port, which sent them again", Cause.LOSS),
  LOCAL_ACK_TIMEOUT_ERR("a peer did not acknowledge packets in time", Cause.LOSS),
  DUPLICATE_REQUEST("a peer sent requests again that had arrived", Cause.LOSS),
  IMPLIED_NAK_SEQ_ERR("answers to READs were lost and requested again", Cause.LOSS),
  OUT_OF_SEQ_REQUEST("requests arrived out of order, so some were lost", Cause.LOSS),
  RCVD_SEQ_ERR("a peer missed packets of this port, which sent them again", Cause.LOSS),
  COMPLETER_RETRY_ERR("answers did not come in time, and requests were sent again", Cause.LOSS),
  RETRY_EXCEEDED_ERR("connections ended because a peer did not answer any more", Cause.LOSS),
  RX_ICRC_ENCAPSULATED("packets arrived with a wrong checksum", Cause.CABLE),
  SYMBOL_ERROR("the link received signals that are no data", Cause.CABLE),
  LINK_ERROR_RECOVERY("the link was lost and recovered by itself", Cause.CABLE),
  LINK_DOWNED("the link went down", Cause.CABLE),
  PORT_RCV_ERRORS("packets arrived damaged", Cause.CABLE),
  PORT_XMIT_DISCARDS("packets were dropped before they were sent", Cause.CONGESTION),
  NP_ECN_MARKED_ROCE_PACKETS(
      "switches marked packets to this port as congested (ECN)", Cause.CONGESTION),
  NP_CNP_SENT("this port asked senders to slow down (CNP)", Cause.CONGESTION),
  RP_CNP_HANDLED("this port was asked to slow down (CNP) and did", Cause.CONGESTION);

  private final String meaning;
  private final Cause cause;

  PortCounter(String meaning, Cause cause) {
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

  static Optional<PortCounter> of(String file) {
    return Stream.of(values()).filter(counter -> counter.file().equals(file)).findFirst();
  }

  /** Name of its file. */
  String file() {
    return name().toLowerCase(Locale.ROOT);
  }

  String meaning() {
    return meaning;
  }

  String advice() {
    return cause.advice;
  }
}
