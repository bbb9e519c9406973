// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.jobs.ComputedAnswer.Answer;

class ComputedAnswerTest {
  private static final List<String> ROWS = List.of("3|a,1", "3|b,2", "3|c,3", "4|d,4");

  @Test
  void shouldNameTheRowThatDiffers() {
    assertThat(difference(List.of("3|a,1", "3|b,5", "3|c,3", "4|d,4")))
        .contains("digest=")
        .endsWith("; row 2: '3|b,5' instead of '3|b,2'");
  }

  @Test
  void shouldCompareRowsWhoseDigestsAreEqual() {
    Answer same = new Answer(2, "ab");
    assertThat(
            new ComputedAnswer(same, List.of("1,a", "2,b"))
                .difference(new ComputedAnswer(same, List.of("1,a", "2,c"))))
        .hasValue("equal digests; row 2: '2,b' instead of '2,c'");
  }

  @Test
  void shouldFindNoDifferenceOfEqualAnswersAndNoRowsOfOthers() {
    assertThat(ComputedAnswer.ofRows(ROWS).difference(ComputedAnswer.ofRows(List.copyOf(ROWS))))
        .isEmpty();
    assertThat(
            ComputedAnswer.of(new Answer(1, "a")).difference(ComputedAnswer.of(new Answer(1, "b"))))
        .hasValue("rows=1 digest=a instead of rows=1 digest=b");
  }

  private static String difference(List<String> rows) {
    return ComputedAnswer.ofRows(rows).difference(ComputedAnswer.ofRows(ROWS)).orElseThrow();
  }
}
