// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.sparkrdma.launch.Script;

class SoakTest {
  @Test
  void shouldListEveryJobInTheScriptsHelp() throws Exception {
    String help = Script.run(Map.of(), "dev/soak", "--help").output();
    assertThat(help.replaceAll("\\s+", "")).contains(names());
  }

  private static String names() {
    return Arrays.stream(SoakJob.values()).map(Enum::name).collect(Collectors.joining(","));
  }

  @Test
  void shouldDrawTheSameSettingsFromTheSameSeed() {
    assertThat(SoakRun.randomSettings(7, true))
        .isEqualTo(SoakRun.randomSettings(7, true))
        .isNotEqualTo(SoakRun.randomSettings(8, true));
  }

  @Test
  void shouldDrawSparksOwnSettingsForVanillaAsForThePlugIn() {
    Map<String, String> vanilla = SoakRun.randomSettings(7, false);

    assertThat(vanilla.keySet()).isNotEmpty().noneMatch(key -> key.contains("rdma"));
    assertThat(SoakRun.randomSettings(7, true)).containsAllEntriesOf(vanilla);
  }
}
