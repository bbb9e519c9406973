// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.counters;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that answer as {@code ethtool} does. */
@Timeout(60)
class EthtoolTest {
  @TempDir private Path folder;

  @Test
  void shouldReadStatistics() throws IOException {
    Ethtool ethtool =
        program(
            "test \"$*\" = '-S eth2' && printf 'NIC statistics:\\n     rx_bytes: 18\\n"
                + "     [0]: rx_ucast_packets: 3\\n     rx_prio3_pause: 7\\n     text: none\\n'");
    NetworkStatistics.Answer answer = ethtool.of("eth2");
    assertThat(answer.failure()).isEmpty();
    assertThat(answer.values())
        .hasSize(3)
        .containsEntry("rx_prio3_pause", 7L)
        .containsEntry("[0]: rx_ucast_packets", 3L);
  }

  @Test
  void shouldGiveTheReasonOfTheProgram() throws IOException {
    assertThat(program("echo 'no stats available' >&2; exit 94").of("eth2"))
        .isEqualTo(NetworkStatistics.Answer.failed("ethtool: no stats available"));
  }

  @Test
  void shouldUseTheNextProgramWhenOneIsMissing() throws IOException {
    String missing = folder.resolve("none").toString();
    assertThat(new Ethtool(List.of(missing)).of("eth2"))
        .isEqualTo(NetworkStatistics.Answer.failed(Ethtool.MISSING));
    Ethtool present = program("echo ' a: 1'");
    assertThat(new Ethtool(List.of(missing, present.programs().get(0))).of("eth2").values())
        .containsEntry("a", 1L);
  }

  @Test
  void shouldReadTheOutputOfAProgramThatHasEnded() throws IOException {
    Ethtool ethtool = program("echo ' a: 1'");
    for (int run = 0; run < 300; run++) {
      assertThat(ethtool.of("eth2").values()).as("run %d", run).containsEntry("a", 1L);
    }
  }

  @Test
  void shouldNotWaitForAProgramThatDoesNotEnd() throws IOException {
    assertThat(program("exec sleep 1000").of("eth2").failure()).isEqualTo("ethtool gave no answer");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rx_prio3_pause",
        "tx_global_pause",
        "rx_pause_ctrl_phy",
        "rx_priority_3_xoff.nic",
        "port.tx_priority_3_xoff",
        "rx_pfc_ena_frames_pri3",
        "tx_pause_frames",
        "mac_rx_pfc_pri0_pkt_num"
      })
  void shouldCountPauseFrames(String statistic) {
    assertThat(Ethtool.countsPauses(statistic)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rx_prio3_pause_duration",
        "rx_prio3_pause_transition",
        "tx_pause_storm_warning_events",
        "rx_priority_3_xon.nic",
        "rx_pfc_xon2xoff_frames_pri3",
        "rx_pripause_3_1us_count",
        "rx_bytes"
      })
  void shouldNotCountDurationsAndEndsOfPauses(String statistic) {
    assertThat(Ethtool.countsPauses(statistic)).isFalse();
  }

  private Ethtool program(String script) throws IOException {
    Path file = folder.resolve("ethtool");
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
    return new Ethtool(List.of(file.toString()));
  }
}
