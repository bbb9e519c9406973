// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        .file(HW + "np_cnp_sent", "3\n")
        .file(HW + "sent_pkts", "1000\n")
        .pause(() -> machine.file(HW + "rcvd_seq_err", "12\n"));
    assertThat(findings())
        .satisfiesExactly(
            text ->
                assertThat(text)
                    .startsWith(
                        "WARNING rxe0 port 1, lost or repeated packets: completer_retry_err=2,"
                            + " rcvd_seq_err=12 (+5). They grew while this command looked. | if"),
            text ->
                assertThat(text)
                    .startsWith(
                        "NOTE rxe0 port 1, congestion: np_cnp_sent=3. They did not grow while"));
  }

  @Test
  void shouldNotCallACounterZeroThatWasNotRead() {
    machine.file(HW + "rcvd_seq_err", "0\n").file(HW + "out_of_seq_request", "");
    assertThat(findings())
        .containsExactly("OK rxe0 port 1: all 1 counters of loss and congestion are 0. | nothing");
  }

  @Test
  void shouldNoteADriverWithoutCounters() {
    machine.file(HW + "sent_pkts", "4\n");
    assertThat(findings())
        .containsExactly(
            "NOTE rxe0 port 1: its driver has no counter of loss or congestion. | look at the"
                + " counters of the switch");
  }

  /** Names from the kernel's sources of these drivers. */
  @ParameterizedTest
  @CsvSource({
    "cnpSent, congestion",
    "RxECNMrkd, congestion",
    "tcpRetransSegs, lost or repeated packets",
    "oos_drop_count, lost or repeated packets",
    "Nak Sequence Error, lost or repeated packets",
    "sq_num_tree, lost or repeated packets",
    "CRC errors, damaged packets",
    "np_ecn_marked_roce_packets, congestion"
  })
  void shouldKnowTheCountersOfDrivers(String counter, String title) {
    machine.file(HW + counter, "4\n");
    assertThat(findings())
        .singleElement()
        .asString()
        .startsWith("NOTE rxe0 port 1, " + title + ": " + counter + "=4. ");
  }

  @Test
  void shouldReadWaitsForCreditsOnInfiniBand() {
    machine
        .infiniBandPort("mlx5_0", "fe80:0000:0000:0000:0002:c903:0029:0001")
        .file(PORT.formatted("mlx5_0") + "counters/port_xmit_wait", "5\n")
        .file(PORT.formatted("mlx5_0") + "counters/symbol_error", "0\n");
    assertThat(findings())
        .filteredOn(text -> text.contains(" mlx5_0 "))
        .singleElement()
        .asString()
        .contains("congestion: port_xmit_wait=5. ");
  }

  private List<String> findings() {
    return machine.findings(CountersCheck::run);
  }
}
