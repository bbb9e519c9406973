// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RestartBackoffTest {
  private static final Duration INTERVAL = Duration.ofHours(2);
  private static final long SECOND_NS = Duration.ofSeconds(1).toNanos();

  @Test
  void shouldWaitEverLongerUpToAMinute() {
    assertThat(delaysMs(new RestartBackoff(Duration.ofSeconds(1)), 8))
        .containsExactly(1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 32_000L, 60_000L, 60_000L);
  }

  @Test
  void shouldNeverWaitLessThanTheFirstTime() {
    assertThat(delaysMs(new RestartBackoff(Duration.ofHours(1)), 20)).containsOnly(3_600_000L);
  }

  @Test
  void shouldWaitLongerWhenRdmaIsLostSoonAfterAStart() {
    RestartBackoff backoff = new RestartBackoff(Duration.ofSeconds(1));
    countAttempts(backoff, 3);
    backoff.onUp(0);
    backoff.onLoss(RestartBackoff.STABLE.toNanos());
    assertThat(backoff.delayMs()).isEqualTo(8_000);
  }

  @Test
  void shouldBeginAnewAfterRdmaWasStable() {
    RestartBackoff backoff = new RestartBackoff(Duration.ofSeconds(1));
    countAttempts(backoff, 3);
    backoff.onUp(5 * SECOND_NS);
    backoff.onLoss(5 * SECOND_NS + RestartBackoff.STABLE.toNanos() + 1);
    assertThat(backoff.delayMs()).isEqualTo(1_000);
  }

  @Test
  void shouldNotWaitWhenEnded() {
    RestartBackoff backoff = new RestartBackoff(Duration.ofHours(1));
    backoff.end();
    assertThat(backoff.await(INTERVAL, () -> {})).isFalse();
  }

  @Test
  void shouldEndAWaitThatIsRunning() throws InterruptedException {
    RestartBackoff backoff = new RestartBackoff(Duration.ofHours(1));
    List<Boolean> outcomes = new ArrayList<>();
    Thread waiting = new Thread(() -> outcomes.add(backoff.await(INTERVAL, () -> {})));
    waiting.start();
    while (waiting.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    backoff.end();
    waiting.join();
    assertThat(outcomes).containsExactly(false);
  }

  @Test
  void shouldCallForAnAttemptWhenTheWaitIsOver() {
    assertThat(new RestartBackoff(Duration.ofMillis(1)).await(INTERVAL, () -> {})).isTrue();
  }

  @Test
  void shouldCheckAfterEachIntervalOfAWait() {
    List<String> checks = new ArrayList<>();
    RestartBackoff backoff = new RestartBackoff(Duration.ofMillis(25));
    assertThat(backoff.await(Duration.ofMillis(10), () -> checks.add("check"))).isTrue();
    assertThat(checks).hasSize(3);
  }

  @Test
  void shouldCheckNoMoreWhenACheckHasEndedTheWaits() {
    List<String> checks = new ArrayList<>();
    RestartBackoff backoff = new RestartBackoff(Duration.ofMinutes(1));
    boolean again =
        backoff.await(
            Duration.ofMillis(1),
            () -> {
              checks.add("check");
              backoff.end();
            });
    assertThat(again).isFalse();
    assertThat(checks).hasSize(1);
  }

  private static List<Long> delaysMs(RestartBackoff backoff, int count) {
    List<Long> delays = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      delays.add(backoff.delayMs());
      countAttempts(backoff, 1);
    }
    return delays;
  }

  /** The waits end at once, because the thread is interrupted, but they count. */
  private static void countAttempts(RestartBackoff backoff, int count) {
    for (int i = 0; i < count; i++) {
      Thread.currentThread().interrupt();
      assertThat(backoff.await(INTERVAL, () -> {})).isFalse();
      assertThat(Thread.interrupted()).isTrue();
    }
  }
}
