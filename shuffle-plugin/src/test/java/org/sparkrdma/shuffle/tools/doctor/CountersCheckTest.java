// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.shuffle.tools.counters.CounterClass;
import org.sparkrdma.shuffle.tools.counters.NetworkStatistics.Answer;

/** Counters of loss and congestion, on directories like those of several drivers. */
class CountersCheckTest {
  private static final String PORT = "sys/class/infiniband/%s/ports/1/";
  private static final String HW = PORT.formatted("rxe0") + "hw_counters/";

  @TempDir private Path root;
  private FakeMachine machine;

  @BeforeEach
  void create() {
    machine = new FakeMachine(root).rxe();
  }

  @Test
  void shouldReportCountersThatGrow() {
    machine
        .file(HW + "rcvd_seq_err", "7\n")
        .file(HW + "completer_retry_err", "2\n")
        .file(HW + "retry_exceeded_err", "0\n")
        .file(HW + "out_of_seq_request", "3\n")
        .file(HW + "sent_pkts", "1000\n")
        .pause(() -> machine.file(HW + "rcvd_seq_err", "12\n"));
    assertThat(findings())
        .hasSize(3)
        .anyMatch(
            text ->
                text.startsWith("WARNING rxe0 port 1, retransmits: packets or their ack")
                    && text.contains(". completer_retry_err=2, rcvd_seq_err=12 (+5). They grew"))
        .anyMatch(
            text ->
                text.startsWith("NOTE rxe0 port 1, out of sequence: packets arrived out of order")
                    && text.contains(". out_of_seq_request=3. They did not grow"));
  }

  @Test
  void shouldShowEveryCounterWithItsChangeOnRequest() {
    machine
        .all()
        .file(HW + "rcvd_seq_err", "0\n")
        .file(HW + "completer_retry_err", "2\n")
        .file(HW + "out_of_seq_request", "0\n")
        .file(HW + "send_err", "3\n")
        .pause(() -> machine.file(HW + "rcvd_seq_err", "5\n"));
    assertThat(findings())
        .hasSize(5)
        .contains(
            "NOTE rxe0 port 1, retransmits: completer_retry_err=2 (+0): requests were sent again,"
                + " after a time-out or a missing response. | "
                + CounterClass.RETRANSMIT.advice(),
            "WARNING rxe0 port 1, retransmits: rcvd_seq_err=5 (+5): the peer missed a packet of this"
                + " host and asked for it again (NAK). | "
                + CounterClass.RETRANSMIT.advice(),
            "NOTE rxe0 port 1, lost packets: send_err=3 (+0): the network interface did not take a"
                + " packet of this host. | "
                + CounterClass.LOST.advice(),
            "OK rxe0 port 1, out of sequence: out_of_seq_request=0 (+0): a request arrived whose"
                + " sequence number was not the next one. | nothing");
  }

  /**
   * Statistics of an Ethernet driver; the name that nothing knows has the sentence of its class.
   */
  @Test
  void shouldExplainStatisticsOfTheNetworkInterfaceOnRequest() {
    machine
        .all()
        .statistics(
            network ->
                new Answer(
                    Map.of(
                        "rx_prio3_pause", 8L,
                        "rx_pfc_of_tomorrow", 2L,
                        "rx_discards_phy", 0L,
                        "rx_ecn_mark", 1L,
                        "rx_bytes", 7L),
                    ""));
    assertThat(findings())
        .hasSize(5)
        .anyMatch(
            text ->
                text.startsWith(
                    "NOTE rxe0 port 1, pause frames: rx_prio3_pause=8 (+0): a PFC frame of this"
                        + " priority arrived: the switch asked"))
        .anyMatch(
            text ->
                text.startsWith(
                    "NOTE rxe0 port 1, pause frames: rx_pfc_of_tomorrow=2 (+0): a receiver was full,"))
        .anyMatch(text -> text.startsWith("OK rxe0 port 1, lost packets: rx_discards_phy=0 (+0): "))
        .anyMatch(text -> text.startsWith("NOTE rxe0 port 1, ECN marks: rx_ecn_mark=1 (+0): "));
  }

  @Test
  void shouldNotCallAClassZeroThatWasNotRead() {
    machine.file(HW + "rcvd_seq_err", "0\n").file(HW + "out_of_seq_request", "");
    assertThat(findings())
        .containsExactly(
            "OK rxe0 port 1: all counters are 0 of retransmits (1). | nothing",
            "NOTE rxe0 port 1: not read: lost packets, damaged packets, ECN marks, CNPs (the driver"
                + " has no counter of it); out of sequence (out_of_seq_request cannot be read);"
                + " pause frames (ethtool is not installed). | install ethtool and run this again;"
                + " the switch has counters of the others");
  }

  @Test
  void shouldNameEveryClassForADriverWithoutCounters() {
    assertThat(findings())
        .singleElement()
        .asString()
        .startsWith(
            "NOTE rxe0 port 1: not read: lost packets, damaged packets, retransmits, out of"
                + " sequence, ECN marks, CNPs (the driver has no counter of it); pause frames (");
  }

  /** Names from the kernel's sources of these drivers. */
  @ParameterizedTest
  @CsvSource({
    "cnpSent, CNPs",
    "cnpHandled, CNPs",
    "RxECNMrkd, ECN marks",
    "tcpRetransSegs, retransmits",
    "ip4InDiscards, lost packets",
    "rx_ecn_marked_pkts, ECN marks",
    "np_cnp_pkts, CNPs",
    "oos_drop_count, out of sequence",
    "seq_err_naks_rcvd, retransmits",
    "rx_roce_discards, lost packets",
    "responder_oos, out of sequence",
    "sq_num_tree, retransmits",
    "rx_icrc_encapsulated, damaged packets",
    "np_ecn_marked_roce_packets, ECN marks"
  })
  void shouldKnowTheCountersOfDrivers(String counter, String title) {
    machine.file(HW + counter, "4\n");
    assertThat(findings())
        .anyMatch(
            text ->
                text.startsWith("NOTE rxe0 port 1, " + title + ": ")
                    && text.contains(". " + counter + "=4. "));
  }

  @Test
  void shouldReadPauseFramesOfTheInterfaceBelowAVlan() {
    machine
        .port("mlx5_0", "4: ACTIVE", "100 Gb/sec (4X EDR)", "eth2.100")
        .file("sys/class/net/eth2.100/lower_eth2/mtu", "9000\n")
        .statistics(
            network ->
                network.equals("eth2")
                    ? new Answer(
                        Map.of(
                            "rx_prio3_pause", 8L,
                            "tx_prio3_pause", 0L,
                            "rx_prio3_pause_duration", 99L,
                            "rx_bytes", 7L),
                        "")
                    : new Answer(Map.of(), "ethtool: no stats available"));
    assertThat(findings())
        .anyMatch(
            text ->
                text.startsWith("NOTE mlx5_0 port 1, pause frames: a receiver was full")
                    && text.contains(". rx_prio3_pause=8. They did not grow"))
        .anyMatch(
            text ->
                text.startsWith("NOTE rxe0 port 1: not read: ")
                    && text.contains("pause frames (ethtool: no stats available)"));
  }

  @Test
  void shouldReportAnInterfaceWithoutStatisticsOfPauseFrames() {
    machine.statistics(network -> new Answer(Map.of("rx_bytes", 7L), ""));
    assertThat(findings())
        .singleElement()
        .asString()
        .contains("pause frames (ethtool -S wire1 has no statistic of it). | look at the counters");
  }

  @Test
  void shouldFindTheInterfaceOfACardWhoseGidsHaveNone() {
    machine
        .file(PORT.formatted("irdma0") + "link_layer", "Ethernet\n")
        .file("sys/class/infiniband/irdma0/device/net/eth5/mtu", "1500\n")
        .statistics(network -> new Answer(Map.of(network + "_rx_priority_3_xoff.nic", 2L), ""));
    assertThat(findings())
        .anyMatch(
            text ->
                text.startsWith("NOTE irdma0 port 1, pause frames: ")
                    && text.contains(". eth5_rx_priority_3_xoff.nic=2. "));
  }

  @Test
  void shouldReadWaitsForCreditsOnInfiniBand() {
    machine
        .infiniBandPort("mlx5_0", "fe80:0000:0000:0000:0002:c903:0029:0001")
        .file(PORT.formatted("mlx5_0") + "counters/port_xmit_wait", "5\n")
        .file(PORT.formatted("mlx5_0") + "counters/symbol_error", "0\n")
        .statistics(network -> new Answer(Map.of("rx_prio3_pause", 8L), ""));
    assertThat(findings())
        .filteredOn(text -> text.contains(" mlx5_0 "))
        .hasSize(3)
        .anyMatch(text -> text.contains("pause frames: ") && text.contains(". port_xmit_wait=5. "))
        .contains("OK mlx5_0 port 1: all counters are 0 of damaged packets (1). | nothing");
  }

  private List<String> findings() {
    return machine.findings(new CountersCheck());
  }
}
