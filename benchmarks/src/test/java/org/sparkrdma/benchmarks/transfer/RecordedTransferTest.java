// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;
import org.sparkrdma.launch.BenchmarkDocumentation;

/** Recorded reports, {@code benchmarks/results/transfer-COMMIT.json}: the pages have the rows. */
class RecordedTransferTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void shouldShowTheRowsOfEachRecordedReport() throws IOException {
    List<String> pages = BenchmarkDocumentation.pages();
    for (Path file : BenchmarkDocumentation.results("transfer")) {
      TransferReport report =
          JSON.readValue(file.toFile(), new TypeReference<RecordedReport<TransferReport>>() {})
              .results();
      for (List<List<String>> table : TransferTable.tables(report)) {
        assertThat(BenchmarkDocumentation.missingRows(table.subList(1, table.size()), pages))
            .as("%s: %s", file, table.get(0))
            .isEmpty();
      }
    }
  }
}
