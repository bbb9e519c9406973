// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RangePartitionsTest {
  @Test
  void shouldSendGreaterKeysToLaterPartitionsAndFillAllAlike() {
    Random random = new Random(17);
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      byte[] key = new byte[TeraRecords.KEY_BYTES];
      random.nextBytes(key);
      keys.add(key);
    }
    RangePartitions ranges = RangePartitions.cut(keys.subList(0, 5_000), 8);
    keys.sort(KeyOrder.UNSIGNED_BYTES);
    List<Integer> partitions = keys.stream().map(ranges::getPartition).toList();
    assertThat(partitions).isSorted();
    for (int partition = 0; partition < 8; partition++) {
      assertThat(Collections.frequency(partitions, partition)).isBetween(1_000, 1_500);
    }
  }

  @Test
  void shouldCompareBytesAsUnsigned() {
    RangePartitions ranges = RangePartitions.cut(List.of(key(0x10), key(0xF0)), 2);
    assertThat(ranges.getPartition(key(0x7F))).isZero();
    assertThat(ranges.getPartition(key(0xF0))).isEqualTo(1);
    assertThat(ranges.getPartition(key(0xFF))).isEqualTo(1);
  }

  @Test
  void shouldKeepEqualKeysTogetherWhenTheSampleHasOnlyOne() {
    RangePartitions ranges = RangePartitions.cut(List.of(key(5), key(5), key(5), key(5)), 4);
    assertThat(ranges.numPartitions()).isEqualTo(4);
    assertThat(ranges.getPartition(key(4))).isZero();
    assertThat(ranges.getPartition(key(5))).isEqualTo(3);
  }

  @Test
  void shouldRefuseAnEmptySample() {
    assertThatThrownBy(() -> RangePartitions.cut(List.of(), 4))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("samples=0");
  }

  private static byte[] key(int firstByte) {
    byte[] key = new byte[TeraRecords.KEY_BYTES];
    key[0] = (byte) firstByte;
    return key;
  }
}
