// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;
import org.sparkrdma.launch.ScriptHelp;

class GrowthCommandTest {
  private static final int MISUSE = 2;
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench growth", GrowthCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--executors=9", "--executors=2001", "--report=growth.html"})
  void shouldRefuseMisuseBeforeTheResultsAreRead(String option) {
    assertThat(execute(option)).isEqualTo(MISUSE);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldWriteAReportThatHasTheResultsOfTheSimulation() throws Exception {
    Growth growth = GrowthReports.report().results();
    JSON.writeValue(directory.resolve("simulated.json").toFile(), growth);
    Path report = directory.resolve("growth.json");

    assertThat(execute("--executors=2000", "--report=" + report)).isZero();

    RecordedReport<Growth> recorded =
        JSON.readValue(report.toFile(), new TypeReference<RecordedReport<Growth>>() {});
    assertThat(recorded.results()).isEqualTo(growth);
    assertThat(recorded.command()).isEqualTo("./bench growth --executors=2000");
    assertThat(recorded.environment().host()).contains(" processors, ");
    assertThat(directory.resolve("growth.csv")).content().startsWith("run,executors,");
    assertThat(directory.resolve("growth.html")).content().contains("<svg ");
  }

  private int execute(String... options) {
    List<String> arguments =
        new ArrayList<>(List.of("--project", "p", "--work-dir", directory + "/work"));
    arguments.addAll(List.of("--data", directory + "/simulated.json"));
    arguments.addAll(List.of(options));
    String[] all = arguments.toArray(new String[0]);
    return GrowthCommand.commandLine(all).execute(all);
  }
}
