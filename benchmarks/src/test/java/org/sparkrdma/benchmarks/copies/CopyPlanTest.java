// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CopyPlanTest {
  private static final int BLOCK_BYTES = 4 << 10;
  private static final int BLOCKS = 100;

  @ParameterizedTest
  @EnumSource
  void shouldCopyEachBlockOnceInBatches(CopyBatch batch) {
    CopyPlan plan = CopyPlan.of(batch, BLOCKS * BLOCK_BYTES, BLOCK_BYTES, new Random(1));

    assertThat(plan.copies()).isEqualTo(batch.files() * BLOCKS);
    Set<List<Integer>> blocks = new HashSet<>();
    for (int i = 0; i < plan.copies(); i++) {
      blocks.add(List.of(plan.file(i), plan.offset(i)));
      assertThat(plan.offset(i) % BLOCK_BYTES).isZero();
    }
    assertThat(blocks).hasSize(plan.copies());
    int begin = 0;
    for (int i = 0; i < plan.batches(); i++) {
      int length = plan.end(i) - begin;
      assertThat(length).isBetween(1, CopyBatch.MAX_COPIES);
      assertThat(IntStream.range(begin, plan.end(i)).map(plan::file).distinct().count())
          .isEqualTo(batch == CopyBatch.ONE_FILE ? 1 : CopyBatch.MAX_COPIES);
      begin = plan.end(i);
    }
    assertThat(begin).isEqualTo(plan.copies());
  }

  @ParameterizedTest
  @EnumSource
  void shouldCopyTheBlocksOfAFileInARandomOrder(CopyBatch batch) {
    CopyPlan plan = CopyPlan.of(batch, BLOCKS * BLOCK_BYTES, BLOCK_BYTES, new Random(1));
    List<Integer> offsets =
        IntStream.range(0, plan.copies())
            .filter(copy -> plan.file(copy) == 1)
            .mapToObj(plan::offset)
            .toList();
    assertThat(offsets).isNotEqualTo(offsets.stream().sorted().toList());
  }
}
