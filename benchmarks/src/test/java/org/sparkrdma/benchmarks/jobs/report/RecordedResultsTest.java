// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The reports in {@code benchmarks/results}: readable by this version. */
class RecordedResultsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Those of jobs. */
  static List<Path> results() throws IOException {
    List<Path> ofJobs = new ArrayList<>();
    try (Stream<Path> files = Files.list(Path.of("results"))) {
      for (Path file : files.sorted().toList()) {
        if (JSON.readTree(file.toFile()).has("plan")) {
          ofJobs.add(file);
        }
      }
    }
    return ofJobs;
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
}
