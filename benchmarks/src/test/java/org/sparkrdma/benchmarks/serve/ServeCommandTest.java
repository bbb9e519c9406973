// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.launch.ScriptHelp;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.device.OpenResources;
import org.sparkrdma.verbs.spi.EngineSettings;

@Timeout(60)
class ServeCommandTest {
  private static final int MISUSE = 2;

  @TempDir private Path directory;

  @Test
  void shouldMeasureBothWaysAndLeaveNothingBehind() throws Exception {
    try (VerbsEngine engine = Verbs.choose("soft", EngineSettings.of(Map.of())).engine();
        Device device = engine.open(engine.devices().get(0).name())) {
      try (ServeCosts costs = new ServeCosts(device, directory.resolve("data"), 1 << 20, 1)) {
        List<CostPair> pairs = costs.pairs(5_000, 3, 4);
        assertThat(pairs).hasSize(4).allMatch(pair -> pair.registerNs() > 0 && pair.copyNs() > 0);
        assertThat(costs.copiedBytes()).isEqualTo(7 * 5_000);
      }
      assertThat(device.openResources()).isEqualTo(OpenResources.NONE);
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench serve", ServeCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"--engine=tcp", "--engine=no-copy", "--sizes=2g", "--sizes=x", "--pairs=0"})
  void shouldRefuseMisuseBeforeAnythingIsStarted(String option) {
    assertThat(
            ServeCommand.commandLine()
                .execute("--project", "p", "--work-dir", directory + "/work", option))
        .isEqualTo(MISUSE);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldEndWellOnTheCommandLine() throws Exception {
    int exit =
        ServeCommand.commandLine()
            .execute(
                "--sizes",
                "4k,64k",
                "--pairs",
                "3",
                "--warm-ups",
                "1",
                "--project",
                "p",
                "--work-dir",
                directory.toString());
    assertThat(exit).isZero();
    assertThat(directory).isEmptyDirectory();
  }
}
