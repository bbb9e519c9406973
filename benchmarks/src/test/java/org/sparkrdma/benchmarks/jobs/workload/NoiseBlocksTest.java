// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

class NoiseBlocksTest {
  @Test
  void shouldGiveEachReducerABlockOfTheSameLength() {
    NoiseBlocks blocks = new NoiseBlocks(2, 3, 1000, 300, 5);
    Map<Integer, Integer> lengths = new TreeMap<>();
    records(blocks, 1).forEach(each -> lengths.merge(each._1, each._2.length, Integer::sum));
    assertThat(lengths).isEqualTo(Map.of(0, 1000, 1, 1000, 2, 1000));
    assertThat(blocks.recordsPerBlock()).isEqualTo(4);
    assertThat(blocks.totalBytes()).isEqualTo(6000);
  }

  @Test
  void shouldGiveTheSameBytesForTheSameSeedOnly() {
    byte[] first = records(new NoiseBlocks(2, 3, 1000, 300, 5), 1).get(4)._2;
    assertThat(records(new NoiseBlocks(2, 3, 1000, 300, 5), 1).get(4)._2).isEqualTo(first);
    assertThat(records(new NoiseBlocks(2, 3, 1000, 300, 6), 1).get(4)._2).isNotEqualTo(first);
    assertThat(records(new NoiseBlocks(2, 3, 1000, 300, 5), 0).get(4)._2).isNotEqualTo(first);
  }

  private static List<Tuple2<Integer, byte[]>> records(NoiseBlocks blocks, int map) {
    List<Tuple2<Integer, byte[]>> records = new ArrayList<>();
    blocks.ofMap(map).forEachRemaining(records::add);
    return records;
  }
}
