// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/** Counters of loss and congestion of each port, read twice. Stateless. */
final class CountersCheck {
  /** The names are those of the drivers in drivers/infiniband of the kernel. */
  private enum Kind {
    LOSS(
        "lost or repeated packets",
        "if it grows during jobs, make the network lossless for RDMA: PFC or ECN on all switches and"
            + " hosts, and the same spark.shuffle.rdma.tos everywhere; ethtool -S INTERFACE has the"
            + " pause frames",
        "port_xmit_discards,excessive_buffer_overrun_errors,out_of_sequence,duplicate_request",
        "packet_seq_err,implied_nak_seq_err,local_ack_timeout_err,req_transport_retries_exceeded",
        "roce_adp_retrans,roce_adp_retrans_to,sq_num_oos,sq_num_to,sq_num_tree,rq_num_dup",
        "rq_num_oos,rx_roce_discards,to_retransmits,seq_err_naks_rcvd,max_retry_exceeded",
        "missing_resp,dup_req,oos_drop_count,ip4InDiscards,ip6InDiscards,tcpRetransSegs",
        "RetransSegs,Nak Sequence Error,Nak Sequence Error Implied,RTO,Rcvd Out of order packets",
        "rx_drops,retrans_pkts,retrans_timeout_events,ip4RetransSegs,ip6RetransSegs",
        "requester_timeout,requester_oos_nak,requester_implicit_nak,requester_retries_exceeded",
        "responder_dup_request,responder_oos,send_err,rcvd_seq_err,completer_retry_err",
        "retry_exceeded_err,out_of_seq_request"),
    DAMAGE(
        "damaged packets",
        "look at cable, transceiver and switch port",
        "symbol_error,link_error_recovery,link_downed,local_link_integrity_errors,port_rcv_errors",
        "port_rcv_remote_physical_errors,rx_icrc_encapsulated,rx_roce_errors,CRC errors,rx_err_pkt"),
    CONGESTION(
        "congestion",
        "normal in short bursts; if it grows all the time, more data is sent to a port than it can"
            + " take: look at speeds of links and at other users of the network",
        "port_xmit_wait,roce_slow_restart,roce_slow_restart_cnps,roce_slow_restart_trans",
        "np_ecn_marked_roce_packets,np_cnp_sent,rp_cnp_handled,rp_cnp_ignored,cc_rx_ce_pkts",
        "cc_rx_cnp_pkts,cc_tx_cnp_pkts,rx_ecn_marked_pkts,np_cnp_pkts,tx_cnp_pkts,rx_cnp_pkts",
        "cnpSent,cnpHandled,cnpIgnored,RxECNMrkd,tx_cnp_pkt,rx_cnp_pkt,received_cnps");

    private final String title;
    private final String advice;

    @SuppressWarnings("ImmutableEnumChecker") // of Set.of
    private final Set<String> names;

    Kind(String title, String advice, String... names) {
      this.title = title;
      this.advice = advice;
      this.names = Set.of(String.join(",", names).split(",", -1));
    }
  }

  private CountersCheck() {}

  static List<Finding> run(Facts facts) {
    Map<String, Map<String, Long>> before = new LinkedHashMap<>();
    facts.ports().forEach(port -> before.put(port, read(facts.files(), port)));
    if (before.isEmpty()) {
      return List.of();
    }
    facts.pause().run();
    List<Finding> findings = new ArrayList<>();
    before.forEach(
        (port, first) ->
            addFindings(
                findings,
                new PortFiles(facts.files(), port).name(),
                first,
                read(facts.files(), port)));
    return findings;
  }

  /** The values of all known counters that can be read. */
  private static Map<String, Long> read(SystemFiles files, String port) {
    Map<String, Long> values = new TreeMap<>();
    for (String directory : List.of(port + "/counters", port + "/hw_counters")) {
      for (String name : files.names(directory)) {
        OptionalLong value = SystemFiles.number(files.text(directory + "/" + name).orElse(""));
        for (Kind kind : Kind.values()) {
          if (kind.names.contains(name) && value.isPresent()) {
            values.put(name, value.getAsLong());
          }
        }
      }
    }
    return values;
  }

  private static void addFindings(
      List<Finding> findings, String port, Map<String, Long> before, Map<String, Long> after) {
    int size = findings.size();
    for (Kind kind : Kind.values()) {
      StringJoiner counters = new StringJoiner(", ");
      boolean grows = false;
      for (Map.Entry<String, Long> counter : after.entrySet()) {
        long value = counter.getValue();
        if (value > 0 && kind.names.contains(counter.getKey())) {
          long growth = value - before.getOrDefault(counter.getKey(), value);
          grows |= growth > 0;
          counters.add(
              counter.getKey()
                  + "="
                  + value
                  + (growth > 0 ? String.format(Locale.ROOT, " (%+d)", growth) : ""));
        }
      }
      if (counters.length() > 0) {
        String words = port + ", " + kind.title + ": " + counters + ".";
        findings.add(
            grows
                ? Finding.warning(words + " They grew while this command looked.", kind.advice)
                : Finding.note(
                    words + " They did not grow while this command looked.", kind.advice));
      }
    }
    if (after.isEmpty()) {
      findings.add(
          Finding.note(
              port + ": its driver has no counter of loss or congestion.",
              "look at the counters of the switch"));
    } else if (findings.size() == size) {
      findings.add(
          Finding.ok(port + ": all " + after.size() + " counters of loss and congestion are 0."));
    }
  }
}
