// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;
import org.sparkrdma.launch.BenchmarkDocumentation;

/** Compares recorded reports of a command that runs no jobs with the pages. Stateless. */
public final class RecordedTables {
  private static final ObjectMapper JSON = new ObjectMapper();

  private RecordedTables() {}

  /**
   * Asserts that the pages have all rows of each report {@code
   * benchmarks/results/NAME-COMMIT.json}.
   *
   * @param results class of the report's results
   * @param tables rows of each table, the headings first
   */
  public static <T> void assertShown(
      String name, Class<T> results, Function<T, List<List<List<String>>>> tables)
      throws IOException {
    JavaType type = JSON.getTypeFactory().constructParametricType(RecordedReport.class, results);
    List<String> pages = BenchmarkDocumentation.pages();
    for (Path file : BenchmarkDocumentation.results(name)) {
      RecordedReport<T> report = JSON.readValue(file.toFile(), type);
      for (List<List<String>> table : tables.apply(report.results())) {
        assertThat(missingRows(table, pages)).as("%s: %s", file, table.get(0)).isEmpty();
      }
    }
  }

  /** Rows of a table, whose first has the headings, that are on none of the pages, as Markdown. */
  public static List<String> missingRows(List<List<String>> table, List<String> pages) {
    return table.stream()
        .skip(1)
        .map(row -> "| " + String.join(" | ", row) + " |")
        .filter(row -> pages.stream().noneMatch(page -> page.contains(row)))
        .toList();
  }
}
