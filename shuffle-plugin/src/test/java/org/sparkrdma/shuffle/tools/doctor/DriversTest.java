// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.tools.counters.NetworkStatistics.Answer;
import org.sparkrdma.verbs.device.SysfsTree;

/** Checks of ports on the files of several drivers; the texts say which of them were captured. */
class DriversTest {
  private static final String NOT_GROWN = " They did not grow while this command looked. | ";

  @TempDir private Path root;

  @Test
  void shouldDescribeSoftRoce() throws Exception {
    assertThat(ports("rxe"))
        .containsExactly(
            "OK rxe0 port 1: link layer Ethernet, state ACTIVE, speed 2.5 Gb/sec (1X SDR), MTU 4200"
                + " of wire1. | nothing",
            "OK rxe0 port 1 has 3 GIDs: 0 RoCE v2 fe80:0:0:0:7c13:1cff:fedb:ebd, 1 RoCE v2"
                + " 10.99.1.1, 2 RoCE v2 fd99:1:0:0:0:0:0:1. | nothing");
    assertThat(counters("rxe"))
        .containsExactly(
            "OK rxe0 port 1: all counters are 0 of lost packets (1), damaged packets (1),"
                + " retransmits (4), out of sequence (1). | nothing",
            "NOTE rxe0 port 1: not read: ECN marks, CNPs (the driver has no counter of it); pause"
                + " frames (ethtool: no stats available). | look at the counters of the switch");
  }

  @Test
  void shouldDescribeSoftIwarp() throws Exception {
    assertThat(ports("siw"))
        .containsExactly(
            "OK siw0 port 1: link layer Ethernet, state ACTIVE, speed 2.5 Gb/sec (1X SDR), MTU 4200"
                + " of wire2. | nothing",
            "OK siw0 port 1 has 1 GIDs: 0 iWARP defe:7b45:739b:0:0:0:0:0. | nothing");
    assertThat(counters("siw"))
        .containsExactly(
            "NOTE siw0 port 1: not read: lost packets, damaged packets, retransmits, out of"
                + " sequence, ECN marks, CNPs (the driver has no counter of it); pause frames"
                + " (ethtool: no stats available). | look at the counters of the switch");
  }

  @Test
  void shouldDescribeMlx5OnInfiniBand() throws Exception {
    assertThat(ports("mlx5-infiniband"))
        .containsExactly(
            "OK mlx5_0 port 1: link layer InfiniBand, state ACTIVE, speed 200 Gb/sec (4X HDR)."
                + " | nothing",
            "OK mlx5_0 port 1 has 1 GIDs: 0 InfiniBand fe80:0:0:0:b83f:d203:12:3456. | nothing",
            "OK mlx5_0 port 1 has the IPoIB interface ib0, MTU 2044 of ib0. | nothing");
    assertThat(counters("mlx5-infiniband"))
        .satisfiesExactly(
            text ->
                assertThat(text)
                    .startsWith("NOTE mlx5_0 port 1, damaged packets: ")
                    .contains(". link_downed=1." + NOT_GROWN + "look at cable"),
            text ->
                assertThat(text)
                    .startsWith("NOTE mlx5_0 port 1, pause frames: ")
                    .contains(". port_xmit_wait=17." + NOT_GROWN + "normal in short bursts"),
            text ->
                assertThat(text)
                    .isEqualTo(
                        "OK mlx5_0 port 1: all counters are 0 of lost packets (1), retransmits (4),"
                            + " out of sequence (1). | nothing"),
            text -> assertThat(text).contains(": not read: ECN marks, CNPs (the driver has no"));
  }

  @Test
  void shouldDescribeMlx5OnEthernet() throws Exception {
    assertThat(ports("mlx5-roce"))
        .hasSize(2)
        .anyMatch(text -> text.startsWith("OK mlx5_0 port 1: ") && text.contains("9000 of eth2"))
        .anyMatch(text -> text.contains("2 IB/RoCE v1 10.2.0.5, 3 RoCE v2 10.2.0.5"));
    assertThat(counters("mlx5-roce"))
        .hasSize(5)
        .anyMatch(text -> text.contains(", retransmits: ") && text.contains(". packet_seq_err=3."))
        .anyMatch(text -> text.contains(". np_ecn_marked_roce_packets=41."))
        .anyMatch(text -> text.contains(". np_cnp_sent=40, rp_cnp_handled=7."))
        .anyMatch(text -> text.contains(", pause frames: ") && text.contains(". rx_prio3_pause=8."))
        .contains(
            "OK mlx5_0 port 1: all counters are 0 of lost packets (1), damaged packets (2), out of"
                + " sequence (1). | nothing");
  }

  @Test
  void shouldDescribeIrdma() throws Exception {
    assertThat(counters("irdma"))
        .hasSize(5)
        .anyMatch(text -> text.contains(", ECN marks: ") && text.contains(". RxECNMrkd=12."))
        .anyMatch(text -> text.contains(", CNPs: ") && text.contains(". cnpSent=11."))
        .anyMatch(text -> text.contains(". tx_priority_3_xoff.nic=2."))
        .contains(
            "OK irdma0 port 1: all counters are 0 of lost packets (2), retransmits (1). | nothing")
        .anyMatch(text -> text.contains(": not read: damaged packets, out of sequence (the"));
  }

  @Test
  void shouldDescribeBnxtRe() throws Exception {
    assertThat(ports("bnxt_re"))
        .anyMatch(text -> text.startsWith("NOTE bnxt_re0 port 1: ") && text.contains("MTU 1500"));
    assertThat(counters("bnxt_re"))
        .hasSize(4)
        .anyMatch(text -> text.contains(", retransmits: ") && text.contains("naks_rcvd=6."))
        .anyMatch(text -> text.contains(", out of seq") && text.contains(". oos_drop_count=5."))
        .anyMatch(text -> text.contains(". rx_pfc_ena_frames_pri3=4."))
        .contains(
            "OK bnxt_re0 port 1: all counters are 0 of lost packets (1), damaged packets (1), ECN"
                + " marks (1), CNPs (2). | nothing");
  }

  private List<String> ports(String tree) throws IOException {
    SysfsTree.unpack(tree, root);
    return new FakeMachine(root).findings(new PortsCheck());
  }

  private List<String> counters(String tree) throws IOException {
    Map<String, Map<String, Long>> statistics = SysfsTree.unpack(tree, root).statistics();
    return new FakeMachine(root)
        .statistics(
            network ->
                statistics.containsKey(network)
                    ? new Answer(statistics.get(network), "")
                    : new Answer(Map.of(), "ethtool: no stats available"))
        .findings(new CountersCheck());
  }
}
