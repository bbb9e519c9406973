// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HangWatchTest {
  private final AtomicLong turns = new AtomicLong();

  private HangWatch watch(Duration limit) {
    return new HangWatch(turns::get, limit);
  }

  private static int checksUntilHang(HangWatch watch) {
    int checks = 1;
    while (!watch.findsHang()) {
      checks++;
    }
    return checks;
  }

  @Test
  void shouldFindTheHangAfterTheLimitAndOnlyOnce() {
    HangWatch watch = watch(Duration.ofSeconds(30));
    turns.set(1);
    assertThat(watch.findsHang()).isFalse();
    assertThat(checksUntilHang(watch)).isEqualTo(30);
    assertThat(watch.limit()).isEqualTo(Duration.ofSeconds(30));
    for (int check = 0; check < 100; check++) {
      assertThat(watch.findsHang()).isFalse();
    }
  }

  /** A thread without work takes a turn each second. */
  @Test
  void shouldNotFindAHangInFewChecksHoweverShortTheRequestTimeout() {
    HangWatch watch = watch(Duration.ofMillis(10));
    turns.set(1);
    assertThat(watch.findsHang()).isFalse();
    assertThat(checksUntilHang(watch)).isEqualTo(5);
  }

  @Test
  void shouldBeginAgainWithEachTurn() {
    HangWatch watch = watch(Duration.ofSeconds(10));
    for (int pause = 0; pause < 20; pause++) {
      turns.incrementAndGet();
      for (int check = 0; check < 10; check++) {
        assertThat(watch.findsHang()).isFalse();
      }
    }
  }
}
