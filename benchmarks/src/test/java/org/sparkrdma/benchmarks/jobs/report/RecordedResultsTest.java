// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.launch.BenchmarkDocumentation;

/** The reports in {@code benchmarks/results}: readable by this version, and those of the pages. */
class RecordedResultsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Those of jobs; of other commands the tests are in their packages. */
  static List<Path> results() throws IOException {
    List<Path> ofJobs = new ArrayList<>();
    for (Path file : BenchmarkDocumentation.results()) {
      if (JSON.readTree(file.toFile()).has("plan")) {
        ofJobs.add(file);
      }
    }
    return ofJobs;
  }

  /** {@code NAME-COMMIT.json}; reports of jobs that are older than the field have no version. */
  @Test
  void shouldBeOnAPageAndNameCommandCommitAndMachine() throws IOException {
    String pages = String.join("\n", BenchmarkDocumentation.pages());
    for (Path file : BenchmarkDocumentation.results()) {
      String commit = file.getFileName().toString().replaceAll("^.*-|\\.json$", "");
      JsonNode report = JSON.readTree(file.toFile());
      assertThat(pages).contains("benchmarks/results/" + file.getFileName());
      assertThat(commit).as("%s", file).matches("[0-9a-f]{7,10}");
      assertThat(report.at(report.has("plan") ? "/plan/command" : "/command").asText())
          .as("%s", file)
          .startsWith("./bench ")
          .doesNotContain(" --report");
      assertThat(file).as("a path of one machine").content().doesNotContain("file:/");
      assertThat(report.at("/environment/host").asText()).as("%s", file).contains(" processors, ");
      if (report.at("/environment").hasNonNull("version")) {
        assertThat(report.at("/environment/version").asText())
            .as("%s", file)
            .contains("commit " + commit);
      }
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
  void shouldShowTheRecordedValuesInEveryColumn(Path file) throws IOException {
    BenchmarkReport report = report(file);
    Set<DocumentedRow.Subject> shown = new HashSet<>();
    for (DocumentedTable table : tables()) {
      if (table.file().equals(file.getFileName().toString())) {
        for (List<String> cells : table.rows()) {
          DocumentedRow row = new DocumentedRow(table, cells);
          List<DocumentedRow.Subject> subjects = row.subjects(report);
          assertThat(subjects).as("%s: what the row is about: %s", file, cells).hasSize(1);
          assertThat(row.differences(subjects.get(0))).as("%s", file).isEmpty();
          shown.add(subjects.get(0));
        }
      }
    }
    for (CaseReport each : report.cases()) {
      // The first has no ratios: those of the others are to it.
      for (ShuffleMode mode : report.plan().modes().subList(1, report.plan().modes().size())) {
        assertThat(shown)
            .as("%s: ratios in tables below the name of the file", file)
            .contains(new DocumentedRow.Subject(each, mode, true));
      }
    }
  }

  @Test
  void shouldRecordTheReportOfEachTableOfAJob() throws IOException {
    List<String> files = results().stream().map(file -> file.getFileName().toString()).toList();
    assertThat(tables())
        .hasSizeGreaterThanOrEqualTo(files.size())
        .allSatisfy(table -> assertThat(files).contains(table.file()));
  }

  @ParameterizedTest
  @CsvSource({
    "fetch wait, 0.54 (0.49..0.67)",
    "executor CPU, 1.01 (1.00..1.02)",
    "longest GC pause ms, 20 (20..24)",
    "unknown s, 1"
  })
  void shouldFindAWrongValueInAnyColumn(String heading, String wrong) throws IOException {
    Path file = Path.of("../benchmarks/results/groupby-9952fbe.json");
    BenchmarkReport report = report(file);
    String page =
        """
        Of [a](benchmarks/results/%s):

        | to vanilla, blocks of 4 KiB | wall | %s |
        |---|---|---|
        | rdma | %s | %s |
        """
            .formatted(file.getFileName(), heading, "0.95 (0.91..0.97)", wrong);
    DocumentedTable table = DocumentedTable.of(page).get(0);
    DocumentedRow row = new DocumentedRow(table, table.rows().get(0));
    assertThat(row.subjects(report)).hasSize(1);
    assertThat(row.differences(row.subjects(report).get(0)))
        .singleElement()
        .asString()
        .startsWith(heading + " of 256x256x4k rdma ratios is ")
        .endsWith(", the page shows " + wrong);
  }

  private static List<DocumentedTable> tables() throws IOException {
    return BenchmarkDocumentation.pages().stream()
        .flatMap(page -> DocumentedTable.of(page).stream())
        .toList();
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
