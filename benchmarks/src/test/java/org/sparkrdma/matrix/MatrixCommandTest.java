// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class MatrixCommandTest {
  @TempDir private Path directory;

  @Test
  void shouldFindRowsThatDifferAreMissingOrTooMany() throws Exception {
    Path rows = Files.write(directory.resolve("a"), List.of("1|x", "2|y"));
    Path other = Files.write(directory.resolve("b"), List.of("1|x", "2|z"));
    Path fewer = Files.write(directory.resolve("c"), List.of("1|x"));
    Path none = Files.write(directory.resolve("d"), List.of());
    assertThat(CellRun.differenceOfRows(rows, rows)).isEmpty();
    assertThat(CellRun.differenceOfRows(rows, other).orElseThrow())
        .contains("row 2: '2|z' instead of '2|y'");
    assertThat(CellRun.differenceOfRows(rows, fewer)).isPresent();
    assertThat(CellRun.differenceOfRows(fewer, rows)).isPresent();
    assertThat(CellRun.differenceOfRows(none, none)).hasValue("the query has no rows");
  }

  @Test
  void shouldNotPassACellWithAWrongAnswerOrWithoutAByteByRead() {
    CellResult right = result(42, 0, null);
    assertThat(right.hasPassed()).isTrue();
    assertThat(right.bytesByRead()).isEqualTo(42);
    CellResult wrong = result(1, 0, "row 7 differs");
    assertThat(wrong.hasPassed()).isFalse();
    assertThat(CellResult.table(List.of(right, wrong))).contains("WRONG", "row 7 differs");
    CellResult byTcp = result(0, 5, null);
    assertThat(byTcp.hasPassed()).isFalse();
    assertThat(byTcp.answerRight()).isTrue();
    assertThat(byTcp.bytesByTcp()).isEqualTo(5);
  }

  private static CellResult result(long byRead, long byTcp, String difference) {
    return CellResult.compared(Cell.all().get(0), byRead, byTcp, 60, difference);
  }
}
