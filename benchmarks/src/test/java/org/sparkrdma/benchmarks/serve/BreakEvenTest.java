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
package org.sparkrdma.benchmarks.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BreakEvenTest {
  private final BreakEven costs =
      new BreakEven(
          Map.of(
              1_000, List.of(new CostPair(50, 10)),
              2_000, List.of(new CostPair(50, 40)),
              3_000, List.of(new CostPair(60, 80)),
              4_000, List.of(new CostPair(5, 200))));

  @Test
  void shouldSayThatCopyingAllIsCheaperThanRegistering() {
    assertThat(costs.bytes(1_000)).isEqualTo(1_000);
    assertThat(costs.bytes(2_000)).isEqualTo(2_000);
  }

  @Test
  void shouldFindHowMuchCanBeCopiedForThePriceOfRegistering() {
    assertThat(costs.bytes(3_000)).isEqualTo(2_500);
  }

  @Test
  void shouldFindNothingWhereEveryCopyCostsMore() {
    assertThat(costs.bytes(4_000)).isZero();
  }

  @Test
  void shouldTakeTheMedianOfThePairs() {
    BreakEven noisy =
        new BreakEven(
            Map.of(
                1_000, List.of(new CostPair(1, 9), new CostPair(50, 10), new CostPair(90, 11)),
                2_000, List.of(new CostPair(25, 30), new CostPair(25, 40), new CostPair(25, 900))));
    assertThat(noisy.bytes(2_000)).isEqualTo(1_500);
  }
}
