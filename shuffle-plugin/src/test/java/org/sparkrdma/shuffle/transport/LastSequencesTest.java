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
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LastSequencesTest {
  private final LastSequences sequences = new LastSequences();

  @Test
  void shouldKnowTheLastSequenceOfEachOfManyPeers() {
    Random random = new Random(11);
    Map<Long, Long> expected = new HashMap<>();
    for (int i = 0; i < 20_000; i++) {
      long incarnation = i % 3 == 0 ? i : random.nextLong();
      long sequence = 1L + random.nextInt(100);
      expected.put(incarnation, sequence);
      sequences.put(incarnation, sequence);
    }
    sequences.put(0, 7);
    expected.put(0L, 7L);
    expected.forEach((key, value) -> assertThat(sequences.of(key)).isEqualTo(value));
    assertThat(sequences.of(-1)).isZero();
  }

  @Test
  void shouldTakeTheSameMemoryHoweverManyPeersHaveGone() {
    int many = 10 * LastSequences.MAX_PER_TABLE;
    for (int i = 1; i <= many; i++) {
      sequences.put(i, 1);
    }
    assertThat(sequences.sizeBytes()).isLessThanOrEqualTo(4L << 20);
    for (int i = many; i > many - LastSequences.MAX_PER_TABLE; i--) {
      assertThat(sequences.of(i)).isEqualTo(1);
    }
  }
}
