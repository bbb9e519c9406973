// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockRangesTest {
  @Test
  void shouldParseSparksBlockNames() {
    BlockRanges ranges = new BlockRanges(0);
    assertThat(ranges.tryAdd(new ShuffleBlockId(1, 5_000_000_000L, 3).name())).isTrue();
    assertThat(ranges.tryAdd(new ShuffleBlockBatchId(1, 2, 3, 30).name())).isTrue();
    assertThat(ranges)
        .containsExactly(new BlockRange(1, 5_000_000_000L, 3, 4), new BlockRange(1, 2, 3, 30));
    assertThatThrownBy(() -> ranges.get(2)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "shuffle_",
        "shuffle_1_2",
        "shuffle_1_2_",
        "shuffle_1_2_3_4_5",
        "shuffle_1_2_3_3",
        "shuffle_1_2_-3",
        "shuffle_1_2_3.data",
        "shuffle_1_2_2147483647",
        "shuffle_2147483648_2_3",
        "shuffle_1_99999999999999999999_3",
        "shuffle_push_1_0_2_3",
        "shuffleChunk_1_0_3_4",
        "shuffleMerged_app_1_0_3",
        "rdd_1_2",
      })
  void shouldIgnoreOtherNames(String name) {
    BlockRanges ranges = new BlockRanges(1);
    assertThat(ranges.tryAdd(name)).isFalse();
    assertThat(ranges).isEmpty();
  }
}
