// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class StageReadsTest {
  private final StageReads reads = new StageReads();

  @Test
  void shouldKeepTheStagesThatWereAddedLast() {
    for (int stage = 0; stage < 1_000; stage++) {
      reads.add(stage, 1, 0, 0);
      reads.add(0, 1, 0, 0);
    }
    List<Long> list = reads.list();
    assertThat(list).hasSize(StageReads.MAX_STAGES * StageReads.FIELDS);
    assertThat(list.subList(list.size() - StageReads.FIELDS, list.size()))
        .isEqualTo(List.of(0L, 0L, 1_001L, 0L, 0L));
    reads.add(1, 5, 0, 0);
    assertThat(reads.list())
        .as("a number of its own, and sums from 0")
        .endsWith(1_000L, 1L, 5L, 0L, 0L);
    assertThat(LongStream.range(873, 1_000).boxed())
        .allMatch(stage -> list.get((int) (stage - 873) * StageReads.FIELDS + 1).equals(stage));
  }
}
