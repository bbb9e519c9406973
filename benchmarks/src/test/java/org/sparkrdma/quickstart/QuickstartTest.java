// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.launch.ScriptHelp;

class QuickstartTest {
  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    // Port 0 is said in words.
    ScriptHelp.assertExplains(
        "quickstart", Quickstart.commandLine(), value -> value.equals("0") ? "" : value);
  }

  @ParameterizedTest
  @EnumSource
  void shouldDifferBetweenModesInTheShufflesSettingsOnly(ShuffleMode mode) {
    Set<String> keys = new HashSet<>(mode.conf().keySet());
    keys.removeIf(key -> key.startsWith("spark.shuffle.rdma."));
    assertThat(keys).containsExactly("spark.shuffle.manager");
  }

  @Test
  void shouldTakeTheEngineByItselfInTheFallbackRun() {
    assertThat(ShuffleMode.FALLBACK.conf())
        .isEqualTo(Map.of("spark.shuffle.manager", "org.sparkrdma.shuffle.RdmaShuffleManager"));
  }

  @Test
  void shouldRefuseAWrongSizeWithTheExitCodeForMisuse() {
    assertThat(Quickstart.commandLine().execute("--size", "big")).isEqualTo(2);
  }
}
