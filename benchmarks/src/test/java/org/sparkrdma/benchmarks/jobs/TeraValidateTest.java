// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.io.Text;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

class TeraValidateTest {
  @Test
  void shouldPutSplitsInOrderBeforeItComparesThem() {
    var summary =
        TeraValidate.combine(
            List.of(split("g", 0, "e"), split("f", 50, "c", "d"), split("f", 0, "a", "b")));
    assertThat(summary.disorder()).isEmpty();
  }

  @Test
  void shouldFindARecordOutOfOrderWithinASplit() {
    var summary = TeraValidate.combine(List.of(split("f", 0, "a", "c", "b", "a")));
    assertThat(summary.disorder()).hasValueSatisfying(at -> assertThat(at).contains("record 2"));
  }

  @Test
  void shouldFindFilesThatOverlap() {
    var summary = TeraValidate.combine(List.of(split("f", 0, "b"), split("g", 0, "a")));
    assertThat(summary.disorder())
        .hasValueSatisfying(at -> assertThat(at).contains("of g is smaller than the last of f"));
  }

  @Test
  void shouldCompareAcrossAnEmptyFile() {
    var summary =
        TeraValidate.combine(List.of(split("f", 0, "b"), split("g", 0), split("h", 0, "a")));
    assertThat(summary.disorder()).isPresent();
  }

  private static TeraValidate.SplitSummary split(String file, long startOffset, String... keys) {
    return TeraValidate.SplitSummary.of(
        file,
        startOffset,
        Arrays.stream(keys).map(key -> new Tuple2<>(new Text(key), new Text("b"))).iterator());
  }
}
