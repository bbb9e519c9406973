// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnswerComparisonTest {
  @TempDir private Path directory;

  @Test
  void shouldFindEqualRowsEqual() throws IOException {
    assertThat(AnswerComparison.rows(rows("a", "1|x", "2|y"), rows("b", "1|x", "2|y"))).isEmpty();
  }

  @Test
  void shouldNameTheFirstRowThatDiffers() throws IOException {
    assertThat(AnswerComparison.rows(rows("a", "1|x", "2|y"), rows("b", "1|x", "2|z")))
        .hasValue("row 2 of the query differs: vanilla=2|y soft=2|z");
  }

  @Test
  void shouldFindMissingAndAdditionalRows() throws IOException {
    assertThat(AnswerComparison.rows(rows("a", "1", "2"), rows("b", "1")))
        .hasValue("row 2 of the query differs: vanilla=2 soft=null");
    assertThat(AnswerComparison.rows(rows("c", "1"), rows("d", "1", "2")))
        .hasValue("row 2 of the query differs: vanilla=null soft=2");
  }

  @Test
  void shouldRefuseAnAnswerWithoutRows() throws IOException {
    assertThat(AnswerComparison.rows(rows("a"), rows("b"))).hasValue("the query has no rows");
  }

  @Test
  void shouldCompareSortedRecordsByteByByte() throws IOException {
    Path vanilla = parts("vanilla", "abc", "def");
    assertThat(AnswerComparison.sortedRecords(vanilla, parts("equal", "abc", "def"))).isEmpty();
    assertThat(AnswerComparison.sortedRecords(vanilla, parts("other", "abc", "dEf")))
        .hasValue("sorted records differ: file=part-1 offset=1");
    assertThat(AnswerComparison.sortedRecords(vanilla, parts("fewer", "abc")))
        .hasValueSatisfying(text -> assertThat(text).contains("other files"));
    assertThat(AnswerComparison.sortedRecords(parts("none"), parts("nothing"))).isPresent();
  }

  private Path rows(String name, String... rows) throws IOException {
    return Files.write(directory.resolve(name), List.of(rows));
  }

  private Path parts(String name, String... contents) throws IOException {
    Path parts = Files.createDirectory(directory.resolve(name));
    for (int i = 0; i < contents.length; i++) {
      Files.writeString(parts.resolve("part-" + i), contents[i]);
    }
    return parts;
  }
}
