// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;
import org.sparkrdma.launch.BenchmarkDocumentation;

/** Recorded simulations, {@code benchmarks/results/growth-COMMIT.json}: the pages have the rows. */
class RecordedGrowthTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void shouldShowTheRowsOfEachRecordedSimulation() throws IOException {
    for (Path file : BenchmarkDocumentation.results("growth")) {
      RecordedReport<Growth> report =
          JSON.readValue(file.toFile(), new TypeReference<RecordedReport<Growth>>() {});
      assertThat(missingRows(report.results(), BenchmarkDocumentation.pages()))
          .as("%s", file)
          .isEmpty();
    }
  }

  @Test
  void shouldFindARowThatDiffers() {
    Growth growth = GrowthReports.report().results();
    String rows =
        """
        | connections | 0.97 | 0.04 | 9 | 999 | 1,024 |
        | highest pinned bytes | 0.01 | 0.00 | 958,468,096 | 987,475,968 | 1,005,010,944 |
        | ms to the first block | 0.07 | 0.07 | 0.33 | 0.36 | 0.50 |
        """;
    assertThat(missingRows(growth, List.of("", rows)))
        .containsExactly("| ms to the first block | 0.07 | 0.47 | 0.33 | 0.36 | 0.50 |");
  }

  private static List<String> missingRows(Growth growth, List<String> pages) {
    List<List<String>> rows = GrowthTable.rows(growth);
    return BenchmarkDocumentation.missingRows(rows.subList(1, rows.size()), pages);
  }
}
