// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShortReadsTest {
  private static final long PAGE = 0x7f00_b750_f000L;

  private final ReadPool pool = new ReadPool();
  private final ReadBatch batch = pool.batch(1, 0, 0);

  private ReadOperation read(long address, int lengthBytes) {
    batch.countRead();
    return pool.read(batch, (done, bytes) -> {}, address, 7, null, 100, lengthBytes);
  }

  private List<ReadOperation> divided(ReadOperation... reads) {
    List<ReadOperation> divided = new ArrayList<>(List.of(reads));
    ShortReads.divide(divided, pool);
    return divided;
  }

  @ParameterizedTest(name = "{1} bytes at {0} of a page: {2} and {3}")
  @CsvSource({"4095, 12, 1, 11", "4095, 2, 1, 1", "4080, 32, 16, 16", "4065, 32, 31, 1"})
  void shouldDivideAShortReadAtTheEndOfAPage(int offset, int length, int first, int second) {
    ReadOperation crossing = read(PAGE + offset, length);

    List<ReadOperation> divided = divided(crossing);

    assertThat(divided).extracting(ReadOperation::lengthBytes).containsExactly(first, second);
    assertThat(divided)
        .extracting(ReadOperation::remoteAddress)
        .containsExactly(PAGE + offset, PAGE + 4_096);
    assertThat(batch.markReadDone(first)).isFalse();
    assertThat(batch.markReadDone(second)).isTrue();
  }

  @ParameterizedTest(name = "{1} bytes at {0} of a page")
  @CsvSource({"4095, 1", "4064, 32", "0, 32", "4095, 33", "4000, 131527"})
  void shouldLeaveAllOtherReadsAsTheyAre(int offset, int length) {
    ReadOperation one = read(PAGE + offset, length);

    assertThat(divided(one)).containsExactly(one);
    assertThat(one.lengthBytes()).isEqualTo(length);
    assertThat(batch.markReadDone(length)).isTrue();
  }

  @Test
  void shouldKeepTheOrderOfReads() {
    ReadOperation before = read(PAGE, 4_096);
    ReadOperation crossing = read(PAGE + 4_095, 12);
    ReadOperation after = read(PAGE + 4_107, 131_515);

    List<ReadOperation> divided = divided(before, crossing, after);

    assertThat(divided).hasSize(4).startsWith(before, crossing).endsWith(after);
  }
}
