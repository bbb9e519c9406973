// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.RecordedTables;

/** Recorded simulations, {@code benchmarks/results/growth-COMMIT.json}: the pages have the rows. */
class RecordedGrowthTest {
  @Test
  void shouldShowTheRowsOfEachRecordedSimulation() throws IOException {
    RecordedTables.assertShown("growth", Growth.class, growth -> List.of(GrowthTable.rows(growth)));
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
    assertThat(RecordedTables.missingRows(GrowthTable.rows(growth), List.of("", rows)))
        .containsExactly("| ms to the first block | 0.07 | 0.47 | 0.33 | 0.36 | 0.50 |");
  }
}
