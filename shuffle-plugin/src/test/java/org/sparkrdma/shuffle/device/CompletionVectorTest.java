// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CompletionVectorTest {
  private static final int EXECUTORS = 4_096;

  /** The numbers of a host's executors have a common step, or their process ids are equal. */
  @ParameterizedTest
  @CsvSource({"1, 0, 8", "8, 0, 8", "64, 0, 63", "0, 1, 8", "0, 7, 16", "1, 1, 5"})
  void shouldSpreadTheExecutorsOfAHostOverAllVectors(int numberStep, int pidStep, int vectors) {
    int[] executors = new int[vectors];
    for (int i = 0; i < EXECUTORS; i++) {
      executors[CompletionVector.of(i * numberStep, 20_000L + (long) i * pidStep, vectors)]++;
    }
    int fair = EXECUTORS / vectors;
    for (int count : executors) {
      assertThat(count).isBetween(fair / 2, 2 * fair);
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "-5, 1", "2147483647, 9223372036854775807", "-2147483648, 0"})
  void shouldAlwaysTakeAVectorOfTheDevice(int executor, long pid) {
    assertThat(CompletionVector.of(executor, pid, 1)).isZero();
    assertThat(CompletionVector.of(executor, pid, 7)).isBetween(0, 6);
  }
}
