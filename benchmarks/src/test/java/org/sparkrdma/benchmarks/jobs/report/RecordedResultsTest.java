// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.launch.Quartiles;

/** The reports in {@code benchmarks/results}: readable by this version, and those of the page. */
class RecordedResultsTest {
  private static final Path PROJECT = Path.of("..").toAbsolutePath().normalize();
  private static final List<Metric> ON_PAGE = List.of(Metric.WALL, Metric.FETCH_WAIT);

  private static final ObjectMapper JSON = new ObjectMapper();

  static List<Path> results() throws IOException {
    try (Stream<Path> files = Files.list(PROJECT.resolve("benchmarks/results"))) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("results")
  void shouldComputeTheSameSummariesFromTheRecordedRuns(Path file) throws IOException {
    BenchmarkReport report = report(file);
    assertThat(report.cases())
        .isNotEmpty()
        .allSatisfy(
            recorded ->
                assertThat(
                        CaseReport.of(
                            recorded.shape(),
                            recorded.description(),
                            report.plan().modes(),
                            recorded.runs()))
                    .isEqualTo(recorded));
  }

  @ParameterizedTest
  @MethodSource("results")
  void shouldShowTheRecordedRatiosOnThePage(Path file) throws IOException {
    String page = Files.readString(PROJECT.resolve("docs/benchmarks.md"));
    assertThat(page).contains(file.getFileName().toString());
    for (CaseReport recorded : report(file).cases()) {
      // The first has no ratios: those of the others are to it.
      for (CaseReport.Summary summary :
          recorded.summaries().subList(1, recorded.summaries().size())) {
        assertThat(page).contains(onPage(summary.ratios()));
      }
    }
  }

  /** Those older than the figure have no pauses. */
  @ParameterizedTest
  @MethodSource("results")
  void shouldShowAndCompareReportsWithAndWithoutPauses(Path file) throws IOException {
    boolean pauses = Files.readString(file).contains("\"longestMs\"");
    BenchmarkReport report = report(file);
    assertThat(BenchmarkTable.of(report)).contains("longest GC pause ms");
    assertThat(BenchmarkTable.of(report).contains(" - ")).isEqualTo(!pauses);
    boolean copies = Files.readString(file).contains("\"copiedBlocks\"");
    assertThat(BenchmarkTable.of(report).contains("not counted")).isEqualTo(!copies);
    assertThat(BenchmarkPage.of(report)).contains("\"title\":\"GC\"");
    assertThat(BenchmarkPage.of(report).contains("\"title\":\"GC pauses\"")).isEqualTo(pauses);
    assertThat(BenchmarkCsv.of(report).lines().skip(1))
        .allSatisfy(line -> assertThat(line).isNotEmpty());
    Comparison comparison = new Comparison(report, report);
    assertThat(comparison.objection()).isEmpty();
    assertThat(comparison.lines()).extracting(Comparison.Line::metric).contains(Metric.GC);
  }

  private static BenchmarkReport report(Path file) throws IOException {
    return JSON.readValue(file.toFile(), BenchmarkReport.class);
  }

  private static List<String> onPage(Map<Metric, Quartiles> ratios) {
    return ON_PAGE.stream()
        .map(ratios::get)
        .map(
            ratio ->
                String.format(
                    Locale.ROOT, "%.2f (%.2f..%.2f)", ratio.median(), ratio.lower(), ratio.upper()))
        .toList();
  }
}
