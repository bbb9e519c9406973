// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AgentWatchTest {
  private final AtomicLong iterations = new AtomicLong();

  private AgentWatch watch(Duration limit) {
    return new AgentWatch(iterations::get, limit);
  }

  private static int checksUntilHang(AgentWatch watch) {
    int checks = 1;
    while (!watch.findsHang()) {
      checks++;
    }
    return checks;
  }

  @Test
  void shouldFindTheHangAfterTheLimitAndOnlyOnce() {
    AgentWatch watch = watch(Duration.ofSeconds(30));
    iterations.set(1);
    assertThat(watch.findsHang()).isFalse();
    assertThat(checksUntilHang(watch)).isEqualTo(30);
    assertThat(watch.limit()).isEqualTo(Duration.ofSeconds(30));
    for (int check = 0; check < 100; check++) {
      assertThat(watch.findsHang()).isFalse();
    }
  }

  /** An idle agent sleeps for a second. */
  @Test
  void shouldNotFindAHangInFewChecksHoweverShortTheRequestTimeout() {
    AgentWatch watch = watch(Duration.ofMillis(10));
    iterations.set(1);
    assertThat(watch.findsHang()).isFalse();
    assertThat(checksUntilHang(watch)).isEqualTo(5);
  }

  @Test
  void shouldBeginAgainWithEachIteration() {
    AgentWatch watch = watch(Duration.ofSeconds(10));
    for (int pause = 0; pause < 20; pause++) {
      iterations.incrementAndGet();
      for (int check = 0; check < 10; check++) {
        assertThat(watch.findsHang()).isFalse();
      }
    }
  }
}
