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
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;
import org.sparkrdma.launch.Refusal;
import org.sparkrdma.launch.ScriptHelp;

class GrowthCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench growth", GrowthCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --executors=9        | --executors is '9': give a whole number from 10 to 2000
          --executors=2001     | --executors is '2001': give a whole number from 10 to 2000
          --report=growth.html | give growth.json
          """)
  void shouldRefuseMisuseBeforeTheResultsAreRead(String option, String sentence) {
    assertThat(Refusal.of(GrowthCommand.commandLine(), arguments(option))).contains(sentence);
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
    String[] all = arguments(options);
    return GrowthCommand.commandLine(all).execute(all);
  }

  private String[] arguments(String... options) {
    List<String> arguments =
        new ArrayList<>(List.of("--project", "p", "--work-dir", directory + "/work"));
    arguments.addAll(List.of("--data", directory + "/simulated.json"));
    arguments.addAll(List.of(options));
    return arguments.toArray(new String[0]);
  }
}
