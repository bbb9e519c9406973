/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BlockSumTest {
  private static final int LENGTH = 4_096;

  @Test
  void shouldNotDependOnTheOrderOfTheBlocks() {
    assertThat(sum(true, "a", block(1), "b", block(2)))
        .isEqualTo(sum(true, "b", block(2), "a", block(1)));
  }

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
    BlockSum sum = new BlockSum(everyByte);
    sum.add(bytes, LENGTH);
    sum.endBlock(name);
    sum.add(more, LENGTH);
    sum.endBlock(other);
    return sum.total();
  }

  private static byte[] block(long seed) {
    byte[] bytes = new byte[LENGTH];
    new BlockContent(seed).fill(bytes, LENGTH);
    return bytes;
  }
}
