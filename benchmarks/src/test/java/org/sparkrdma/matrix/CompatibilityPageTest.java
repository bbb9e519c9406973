// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompatibilityPageTest {
  private static final Cell OLDEST = Cell.all().get(0);
  private static final HistoryReplay REPLAY =
      new HistoryReplay(true, Optional.empty(), List.of(), List.of());
  private static final TabCheck NO_TAB =
      new TabCheck(Optional.empty(), 0, List.of(), REPLAY, REPLAY);

  private static final MatrixRun RUN = new MatrixRun("2026-11-21", "0123456789", "Linux amd64");
  private static final Path PAGE = Path.of("..", "docs", "compatibility.md");

  @TempDir private Path directory;

  /** Results of the page cannot be changed by hand. */
  @Test
  void shouldShowOnThePageWhatItsReportHas() throws IOException {
    MatrixReport report =
        new ObjectMapper().readValue(CompatibilityPage.reportOf(PAGE).toFile(), MatrixReport.class);
    assertThat(PAGE).content().isEqualTo(CompatibilityPage.text(report));
    assertThat(report.run().date()).matches("\\d{4}-\\d\\d-\\d\\d");
    assertThat(report.run().commit()).matches("[0-9a-f]{10}");
    assertThat(report.cells()).hasSizeGreaterThan(4).allMatch(CellResult::hasPassed);
  }

  @Test
  void shouldShowTheCellsThatRanAndThoseThatDidNot() {
    MatrixReport report =
        new MatrixReport(
            RUN,
            List.of(result(Map.of("rdma.bytes.read", 3L << 20), null)),
            List.of(new CellSelection.NotRun("4.2.0", "2.13", "21", "no JDK 21 on this machine")));
    assertThat(CompatibilityPage.text(report))
        .contains(
            "On 2026-11-21, commit 0123456789, Linux amd64, `./matrix`.",
            "| 3.5.9 | 2.12 | 17.0.15 | right | 3 MiB | 0 B | none | none |",
            "| 4.2.0 | 2.13 | 21 | not run: no JDK 21 on this machine |");
    assertThat(report.allPassed()).isTrue();
  }

  @Test
  void shouldWriteThePageWhenAllCellsPassed() throws IOException {
    Path page = directory.resolve("page.md");
    MatrixReport report =
        new MatrixReport(RUN, List.of(result(Map.of("rdma.bytes.read", 1L), null)), List.of());
    Path json = directory.resolve("page.json");
    assertThat(CompatibilityPage.update(page, report))
        .isEqualTo("wrote %s and %s".formatted(page, json));
    assertThat(page).content().isEqualTo(CompatibilityPage.text(report));
    assertThat(new ObjectMapper().readValue(json.toFile(), MatrixReport.class)).isEqualTo(report);
  }

  @Test
  void shouldNotReplaceThePageWhenACellFailed() throws IOException {
    Path page = Files.writeString(directory.resolve("page.md"), "earlier");
    MatrixReport report =
        new MatrixReport(
            RUN, List.of(result(Map.of("rdma.bytes.read", 1L), "row 7 differs")), List.of());
    assertThat(CompatibilityPage.update(page, report)).endsWith("1 of 1 cells failed");
    assertThat(page).hasContent("earlier");
    assertThat(CompatibilityPage.reportOf(page)).doesNotExist();
    assertThat(report.allPassed()).isFalse();
    assertThat(MatrixTable.of(report.cells())).contains("WRONG", "row 7 differs");
  }

  @Test
  void shouldNotCallACellGoodWithoutAByteByRead() {
    CellResult cell = result(Map.of("tcp.bytes.read", 5L, "fallback.unavailable", 2L), null);
    assertThat(cell.hasPassed()).isFalse();
    assertThat(cell.answerRight()).isTrue();
    assertThat(cell.bytesByTcp()).isEqualTo(5);
    assertThat(cell.fallbacks()).containsExactly(Map.entry("unavailable", 2L));
  }

  @Test
  void shouldWriteTheReportWithOneEntryForEachCell() throws IOException {
    Path file = directory.resolve("matrix.json");
    CellResult failed = CellResult.failed(OLDEST, 1.5, "no cluster");
    new ObjectMapper()
        .writeValue(
            file.toFile(),
            new MatrixReport(
                RUN, List.of(result(Map.of("rdma.bytes.read", 42L), null), failed), List.of()));

    JsonNode cells = new ObjectMapper().readTree(Files.newInputStream(file)).path("cells");
    assertThat(cells).hasSize(2);
    assertThat(cells.get(0).path("spark").asText()).isEqualTo("3.5.9");
    assertThat(cells.get(0).path("scala").asText()).isEqualTo("2.12");
    assertThat(cells.get(0).path("java").asText()).isEqualTo("17");
    assertThat(cells.get(0).path("answerRight").asBoolean()).isTrue();
    assertThat(cells.get(0).path("bytesByRead").asLong()).isEqualTo(42);
    assertThat(cells.get(0).has("problem")).isFalse();
    assertThat(cells.get(1).path("answerRight").asBoolean(true)).isFalse();
    assertThat(cells.get(1).path("problem").asText()).isEqualTo("no cluster");
  }

  private static CellResult result(Map<String, Long> counters, String difference) {
    MatrixResult soft = new MatrixResult("3.5.9", "17.0.15", 1, "a", "a", true, 0, counters, null);
    return CellResult.compared(OLDEST, soft, 60, difference, NO_TAB);
  }
}
