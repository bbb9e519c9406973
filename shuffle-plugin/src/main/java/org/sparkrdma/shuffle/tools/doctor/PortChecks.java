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
import java.util.TreeSet;
import org.sparkrdma.shuffle.pinned.SystemFiles;

/** Checks of the ports of all devices, from the kernel's files. Stateless. */
final class PortChecks {
  private static final String INTERFACES = "/gid_attrs/ndevs";

  /** Begin of the kernel's file node_type for a device of iWARP. */
  private static final String RNIC = "4:";

  private static final String ARP_SETTINGS = "proc/sys/net/ipv4/conf/";

  /** Counters of a port; the names are those of the drivers in drivers/infiniband of the kernel. */
  private enum Counters {
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

    Counters(String title, String advice, String... names) {
      this.title = title;
      this.advice = advice;
      this.names = Set.of(String.join(",", names).split(",", -1));
    }
  }

  /** Link layer, state and speed of each port. */
  static List<Finding> states(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    for (String port : facts.ports()) {
      findings.add(state(facts.files(), port));
    }
    return findings;
  }

  private static Finding state(SystemFiles files, String port) {
    // The kernel writes a number before the name, as in "4: ACTIVE".
    String state = text(files, port + "/state").replaceFirst("^\\d+: *", "");
    String words =
        String.format(
            Locale.ROOT,
            "%s: link layer %s, state %s, speed %s.",
            name(port),
            text(files, port + "/link_layer"),
            state,
            text(files, port + "/rate"));
    return state.equals("ACTIVE")
        ? Finding.ok(words)
        : Finding.warning(
            words + " The port carries no data.",
            "check cable and switch, and run: ip link set INTERFACE up (Ethernet), or start a"
                + " subnet manager (InfiniBand)");
  }

  private static String text(SystemFiles files, String file) {
    return files.text(file).orElse("unknown");
  }

  /** Device and port, as in {@code mlx5_0 port 1}. */
  private static String name(String port) {
    String[] parts = port.split("/", -1);
    return parts[parts.length - 3] + " port " + parts[parts.length - 1];
  }

  /** Those of all GIDs, each once. */
  private static Set<String> networkInterfaces(SystemFiles files, String port) {
    Set<String> interfaces = new TreeSet<>();
    for (String index : files.names(port + INTERFACES)) {
      files.text(port + INTERFACES + "/" + index).ifPresent(interfaces::add);
    }
    return interfaces;
  }

  /**
   * With several interfaces in one layer-2 network Linux answers ARP for the address of one by any
   * other (arp_ignore in Linux's ip-sysctl.rst). Packets of RoCE then arrive at a device that does
   * not have their GID and are dropped, and a connection takes many seconds or fails.
   */
  static List<Finding> arp(Facts facts) {
    SystemFiles files = facts.files();
    Set<String> interfaces = new TreeSet<>();
    for (String port : facts.ports()) {
      if (text(files, port + "/link_layer").equals("Ethernet")
          && !text(files, port + "/../../node_type").startsWith(RNIC)) {
        interfaces.addAll(networkInterfaces(files, port));
      }
    }
    List<String> answering = new ArrayList<>(interfaces);
    // The kernel uses the higher value of all interfaces and of this one.
    answering.removeIf(one -> arpIgnore(files, "all") > 0 || arpIgnore(files, one) > 0);
    return interfaces.size() < 2 || answering.isEmpty()
        ? List.of()
        : List.of(
            Finding.note(
                "The interfaces "
                    + String.join(", ", answering)
                    + " may answer ARP for each other's addresses (arp_ignore is 0). In one layer-2"
                    + " network RoCE then loses the packets that arrive at the wrong one.",
                "run, unless each is in a layer-2 network of its own: sysctl -w"
                    + " net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2, and put"
                    + " both into a file in /etc/sysctl.d"));
  }

  private static long arpIgnore(SystemFiles files, String network) {
    String text = files.text(ARP_SETTINGS + network + "/arp_ignore").orElse("");
    return SystemFiles.number(text).orElse(0);
  }

  /** Counters of loss and congestion of each port, read twice. */
  static List<Finding> counters(Facts facts) {
    Map<String, Map<String, Long>> before = new LinkedHashMap<>();
    facts.ports().forEach(port -> before.put(port, read(facts.files(), port)));
    if (before.isEmpty()) {
      return List.of();
    }
    facts.pause().run();
    List<Finding> findings = new ArrayList<>();
    before.forEach((port, first) -> compare(findings, port, first, read(facts.files(), port)));
    return findings;
  }

  /** The values of all known counters that can be read. */
  private static Map<String, Long> read(SystemFiles files, String port) {
    Map<String, Long> values = new TreeMap<>();
    for (String directory : List.of(port + "/counters", port + "/hw_counters")) {
      for (String name : files.names(directory)) {
        OptionalLong value = SystemFiles.number(files.text(directory + "/" + name).orElse(""));
        for (Counters kind : Counters.values()) {
          if (kind.names.contains(name) && value.isPresent()) {
            values.put(name, value.getAsLong());
          }
        }
      }
    }
    return values;
  }

  private static void compare(
      List<Finding> findings, String port, Map<String, Long> before, Map<String, Long> after) {
    int size = findings.size();
    for (Counters kind : Counters.values()) {
      StringJoiner counters = new StringJoiner(", ");
      boolean grows = false;
      for (Map.Entry<String, Long> counter : after.entrySet()) {
        long value = counter.getValue();
        if (value > 0 && kind.names.contains(counter.getKey())) {
          long growth = value - before.getOrDefault(counter.getKey(), value);
          grows |= growth > 0;
          counters.add(counter.getKey() + "=" + value + (growth > 0 ? " (+" + growth + ")" : ""));
        }
      }
      if (counters.length() > 0) {
        String words = name(port) + ", " + kind.title + ": " + counters + ".";
        findings.add(
            grows
                ? Finding.warning(words + " They grew while this command looked.", kind.advice)
                : Finding.note(
                    words + " They did not grow while this command looked.", kind.advice));
      }
    }
    if (findings.size() == size) {
      findings.add(
          Finding.ok(
              name(port) + ": all " + after.size() + " counters of loss and congestion are 0."));
    }
  }

  private PortChecks() {}
}
