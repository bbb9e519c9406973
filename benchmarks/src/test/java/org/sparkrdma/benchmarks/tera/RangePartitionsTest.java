// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import static org.assertj.core.api.Assertions.assertThat;

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
    RangePartitions ranges = new RangePartitions(8);
    keys.sort(KeyOrder.UNSIGNED_BYTES);
    List<Integer> partitions = keys.stream().map(ranges::getPartition).toList();
    assertThat(partitions).isSorted();
    for (int partition = 0; partition < 8; partition++) {
      assertThat(Collections.frequency(partitions, partition)).isBetween(1_000, 1_500);
    }
  }

  @Test
  void shouldCompareBytesAsUnsigned() {
    RangePartitions ranges = new RangePartitions(2);
    assertThat(ranges.numPartitions()).isEqualTo(2);
    assertThat(ranges.getPartition(key(0x7F))).isZero();
    assertThat(ranges.getPartition(key(0x80))).isEqualTo(1);
    assertThat(ranges.getPartition(key(0xFF))).isEqualTo(1);
  }

  private static byte[] key(int firstByte) {
    byte[] key = new byte[TeraRecords.KEY_BYTES];
    key[0] = (byte) firstByte;
    return key;
  }
}
