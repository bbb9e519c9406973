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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MatrixReportTest {
  private static final Cell OLDEST = Cell.all().get(0);
  private static final MatrixRun RUN = new MatrixRun("2026-11-21", "0123456789", "Linux amd64");

  @TempDir private Path directory;

  @Test
  void shouldNotPassWhenACellFailed() {
    MatrixReport right =
        new MatrixReport(RUN, List.of(result(Map.of("rdma.bytes.read", 1L), null)), List.of());
    assertThat(right.allPassed()).isTrue();
    MatrixReport wrong =
        new MatrixReport(
            RUN, List.of(result(Map.of("rdma.bytes.read", 1L), "row 7 differs")), List.of());
    assertThat(wrong.allPassed()).isFalse();
    assertThat(MatrixTable.of(wrong.cells())).contains("WRONG", "row 7 differs");
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
    MatrixResult soft = new MatrixResult("3.5.9", "17.0.15", 1, "a", "a", true, 0, counters);
    return CellResult.compared(OLDEST, soft, 60, difference);
  }
}
