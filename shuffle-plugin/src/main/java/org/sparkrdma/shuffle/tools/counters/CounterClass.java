// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.counters;

import java.util.List;

/**
 * Classes of loss and congestion, with the names of their counters in {@code hw_counters} and
 * {@code counters} of a port. Sources of the names: the InfiniBand specification; the kernel's
 * drivers mlx5, mlx4, irdma, bnxt_re, mana_ib, efa, cxgb4 and rxe; the patches of irdma's third
 * generation; for hns, programs of others that read them. Only those of rxe were seen on a running
 * kernel. siw has no counters.
 */
public enum CounterClass {
  LOST(
      "lost packets",
      "packets were dropped at this port",
      Cause.LOSS,
      "port_xmit_discards",
      "rx_roce_discards",
      "ip4InDiscards",
      "ip6InDiscards",
      "rx_drops",
      "send_err"),
  DAMAGED(
      "damaged packets",
      "the link damaged data or went down",
      Cause.CABLE,
      "symbol_error",
      "link_error_recovery",
      "link_downed",
      "local_link_integrity_errors",
      "port_rcv_errors",
      "rx_roce_errors",
      "rx_icrc_encapsulated",
      "rx_err_pkt",
      "CRC errors"),
  RETRANSMIT(
      "retransmits",
      "packets or their acknowledgements did not arrive and were sent again",
      Cause.LOSS,
      "packet_seq_err",
      "local_ack_timeout_err",
      "implied_nak_seq_err",
      "duplicate_request",
      "req_transport_retries_exceeded",
      "roce_adp_retrans",
      "rcvd_seq_err",
      "completer_retry_err",
      "retry_exceeded_err",
      "to_retransmits",
      "seq_err_naks_rcvd",
      "max_retry_exceeded",
      "dup_req",
      "tcpRetransSegs",
      "RetransSegs",
      "Nak Sequence Error",
      "Nak Sequence Error Implied",
      "RTO",
      "ip4RetransSegs",
      "ip6RetransSegs",
      "requester_timeout",
      "requester_oos_nak",
      "requester_implicit_nak",
      "responder_dup_request",
      "retrans_pkts",
      "retrans_timeout_events",
      "sq_num_oos",
      "sq_num_to",
      "sq_num_tree",
      "rq_num_dup"),
  OUT_OF_SEQUENCE(
      "out of sequence",
      "packets arrived out of order, so some before them were lost or took a longer way",
      Cause.LOSS,
      "out_of_sequence",
      "out_of_seq_request",
      "oos_drop_count",
      "responder_oos",
      "rq_num_oos",
      "Rcvd Out of order packets"),
  ECN(
      "ECN marks",
      "switches marked packets to this port as congested",
      Cause.CONGESTION,
      "np_ecn_marked_roce_packets",
      "rx_ecn_marked_pkts",
      "RxECNMrkd"),
  CNP(
      "CNPs",
      "receivers asked senders to slow down",
      Cause.CONGESTION,
      "np_cnp_sent",
      "np_cnp_pkts",
      "rp_cnp_handled",
      "rp_cnp_ignored",
      "tx_cnp_pkts",
      "rx_cnp_pkts",
      "tx_cnp_pkt",
      "rx_cnp_pkt",
      "cnpSent",
      "cnpHandled",
      "cnpIgnored"),
  /** On InfiniBand a port waits for credits instead; on Ethernet see {@link Ethtool}. */
  PAUSE(
      "pause frames",
      "a receiver was full, so its sender had to stop for a moment",
      Cause.CONGESTION,
      "port_xmit_wait");

  private static final String SEPARATOR = "\n";

  private final String title;
  private final String meaning;
  private final Cause cause;

  /** Names, each between two separators. */
  private final String counters;

  CounterClass(String title, String meaning, Cause cause, String... counters) {
    this.title = title;
    this.meaning = meaning;
    this.cause = cause;
    this.counters = SEPARATOR + String.join(SEPARATOR, counters) + SEPARATOR;
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

  boolean has(String counter) {
    return counters.contains(SEPARATOR + counter + SEPARATOR);
  }

  /** Names of its counters, in the order of this file. */
  List<String> counters() {
    return List.of(counters.strip().split(SEPARATOR, -1));
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
