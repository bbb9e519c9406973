// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BlockSumTest {
  private static final int LENGTH = 4_096;

  @Test
  void shouldNoticeBlocksThatChangedTheirNames() {
    assertThat(sum(true, "a", block(1), "b", block(2)))
        .isNotEqualTo(sum(true, "a", block(2), "b", block(1)));
  }

  @Test
  void shouldNoticeAnyChangedByteWhenItLooksAtEvery() {
    long right = sum(true, "a", block(1), "b", block(2));
    for (int i = 0; i < LENGTH; i++) {
      byte[] wrong = block(1);
      wrong[i] ^= 1;
      assertThat(sum(true, "a", wrong, "b", block(2))).isNotEqualTo(right);
    }
  }

  @Test
  void shouldNoticeAChangedCacheLineWhenItIsSparse() {
    byte[] wrong = block(1);
    wrong[64] ^= 1;
    assertThat(sum(false, "a", wrong, "b", block(2)))
        .isNotEqualTo(sum(false, "a", block(1), "b", block(2)));
  }

  private static long sum(boolean everyByte, String name, byte[] bytes, String other, byte[] more) {
    RoundOutputs.BlockSum sum = new RoundOutputs.BlockSum(everyByte);
    sum.add(bytes, LENGTH);
    sum.endBlock(name);
    sum.add(more, LENGTH);
    sum.endBlock(other);
    return sum.total();
  }

  private static byte[] block(long seed) {
    byte[] bytes = new byte[LENGTH];
    new SplittableRandom(seed).nextBytes(bytes);
    return bytes;
  }
}
