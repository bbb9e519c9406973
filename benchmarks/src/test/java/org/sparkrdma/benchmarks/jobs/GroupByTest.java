// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.jobs.ComputedAnswer.Answer;
import org.sparkrdma.benchmarks.jobs.GroupBy.NoiseBlocks;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.MisuseException;
import scala.Tuple2;
import scala.Tuple3;

class GroupByTest {
  private static final NoiseBlocks BLOCKS = new NoiseBlocks(1, 3, 1000, 300, 5);

  @Test
  void shouldReadTwoShufflesOfOtherBytesWhenTheShapeEndsSo() {
    GroupBy one = GroupBy.parse("100x100x64k");
    assertThat(one.shuffles()).isEqualTo(1);
    assertThat(GroupBy.parse("100x100x64kx1")).isEqualTo(one);
    GroupBy two = GroupBy.parse("100x100x64kx2");
    assertThat(two.shuffles()).isEqualTo(2);
    assertThat(two.blocks()).isEqualTo(one.blocks());
    NoiseBlocks others = two.blocks().others();
    for (int map = 0; map < 2; map++) {
      assertThat(others.sumOfMap(0)).isNotEqualTo(two.blocks().sumOfMap(map));
    }
    assertThatThrownBy(() -> GroupBy.parse("100x100x64kx3"))
        .isInstanceOf(MisuseException.class)
        .hasMessageContaining("from 1 to 2");
    assertThatThrownBy(() -> GroupBy.parse("2x2x4kx1x1"))
        .isInstanceOf(MisuseException.class)
        .hasMessageContaining("5 parts");
  }

  @Test
  void shouldRefuseBlocksThatAreSwappedBetweenReducers() {
    assertThatThrownBy(() -> answer(0, 2, 1))
        .isInstanceOf(LaunchException.class)
        .hasMessage("8 of 12 records were read by the wrong reducer");
  }

  /**
   * @param reducers the reducer that reads the block of each key
   */
  private static Answer answer(int... reducers) throws LaunchException {
    long[] sums = new long[3];
    for (int key = 0; key < reducers.length; key++) {
      Tuple3<Long, Long, Long> one =
          GroupBy.summarize(reducers[key], List.of(new Tuple2<>(key, values(key))).iterator());
      sums[0] += one._1();
      sums[1] += one._2();
      sums[2] += one._3();
    }
    return GroupBy.answer(new Tuple3<>(sums[0], sums[1], sums[2]));
  }

  private static Iterable<byte[]> values(int key) {
    List<byte[]> values = new ArrayList<>();
    BLOCKS
        .ofMap(0)
        .forEachRemaining(
            each -> {
              if (each._1 == key) {
                values.add(Arrays.copyOf(each._2, each._2.length));
              }
            });
    return values;
  }
}
