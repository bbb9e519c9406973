// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.jobs.ComputedAnswer.Answer;

class ComputedAnswerTest {
  @Test
  void shouldCompareRowsWhoseDigestsAreEqual() {
    Answer same = new Answer(2, "ab");
    assertThat(
            new ComputedAnswer(same, List.of("1,a", "2,b"))
                .difference(new ComputedAnswer(same, List.of("1,a", "2,c"))))
        .hasValue("equal digests; row 2: '2,b' instead of '2,c'");
  }
}
