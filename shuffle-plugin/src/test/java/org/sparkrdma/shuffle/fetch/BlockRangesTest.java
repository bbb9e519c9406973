// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockRangesTest {
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
