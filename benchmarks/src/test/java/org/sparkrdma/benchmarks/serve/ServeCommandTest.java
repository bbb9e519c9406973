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
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.launch.Refusal;
import org.sparkrdma.launch.ScriptHelp;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.device.OpenResources;
import org.sparkrdma.verbs.spi.EngineSettings;

@Timeout(60)
class ServeCommandTest {

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
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --engine=tcp     | --engine is 'tcp': give one of
          --engine=no-copy | --engine is 'no-copy': give one of
          --sizes=2g       | --sizes has '2 GiB': give sizes of at most 1 GiB
          --sizes=x        | 'x'
          --pairs=0        | --pairs is '0': give a whole number from 1 to 100000
          --warm-ups=-1    | --warm-ups is '-1': give a whole number from 0 to 100000
          """)
  void shouldRefuseMisuseBeforeAnythingIsStarted(String option, String sentence) {
    assertThat(
            Refusal.of(
                ServeCommand.commandLine(),
                "--project",
                "p",
                "--work-dir",
                directory + "/work",
                option))
        .contains(sentence);
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
