// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.runtime.RuntimeLifecycle.State;

@Timeout(60)
class RuntimeLifecycleTest {
  private static final long LONG_NS = Duration.ofMinutes(1).toNanos();
  private static final Duration INTERVAL = Duration.ofMinutes(1);

  private final RuntimeLifecycle lifecycle = new RuntimeLifecycle();
  private final RunningParts parts = new RunningParts(null, null, null, null, "none");

  @Test
  void shouldBeUpWhenPartsWereStarted() throws InterruptedException {
    assertThat(lifecycle.state()).isEqualTo(State.STARTING);
    lifecycle.beginAttempt();
    assertThat(lifecycle.state()).isEqualTo(State.STARTING);
    assertThat(lifecycle.endAttempt(parts, List.of())).isTrue();
    assertThat(lifecycle.awaitStart(LONG_NS)).isEqualTo(State.UP);
    assertThat(lifecycle.parts()).contains(parts);
  }

  @Test
  void shouldBeOffWithTheReasonsWhenNothingWasStarted() throws InterruptedException {
    lifecycle.beginAttempt();
    assertThat(lifecycle.endAttempt(null, List.of("no device"))).isFalse();
    assertThat(lifecycle.reasons()).containsExactly("no device");
    assertThat(lifecycle.awaitStart(0)).isEqualTo(State.OFF);
    lifecycle.endWaits();
    assertThat(lifecycle.awaitStart(LONG_NS)).isEqualTo(State.OFF);
  }

  @Test
  void shouldBeOffWhenTheTransportFailedBeforeTheStartWasOver() {
    int number = lifecycle.beginAttempt().getAsInt();
    lifecycle.reportLoss(number, "device removed");
    assertThat(lifecycle.endAttempt(parts, List.of())).isFalse();
    assertThat(lifecycle.state()).isEqualTo(State.OFF);
    assertThat(lifecycle.reasons()).containsExactly("device removed");
  }

  @Test
  void shouldFetchWhileTheFirstStartRunsUntilItHangs() {
    assertThat(lifecycle.mayFetch()).isTrue();
    lifecycle.beginAttempt();
    assertThat(lifecycle.reportHangingStart(List.of("it hangs"))).isTrue();
    assertThat(lifecycle.mayFetch()).isFalse();
    assertThat(lifecycle.reasons()).containsExactly("it hangs");
    assertThat(lifecycle.endAttempt(parts, List.of())).isTrue();
    assertThat(lifecycle.mayFetch()).isTrue();
    assertThat(lifecycle.reportHangingStart(List.of("it hangs"))).as("it is over").isFalse();
    assertThat(lifecycle.reasons()).isEmpty();
  }

  @Test
  void shouldGoOffAndStartAgainAfterALoss() throws InterruptedException {
    lifecycle.reportLoss(up(), "device removed");
    assertThat(lifecycle.awaitLoss(INTERVAL, () -> {})).isTrue();
    assertThat(lifecycle.turnOff()).contains(parts);
    assertThat(lifecycle.state()).isEqualTo(State.OFF);
    assertThat(lifecycle.parts()).isEmpty();
    assertThat(lifecycle.reasons()).containsExactly("device removed");
    lifecycle.beginAttempt();
    assertThat(lifecycle.state()).isEqualTo(State.RESTARTING);
    assertThat(lifecycle.endAttempt(null, List.of("port down"))).isFalse();
    assertThat(lifecycle.state()).isEqualTo(State.OFF);
    up();
    assertThat(lifecycle.awaitStart(LONG_NS)).isEqualTo(State.UP);
  }

  @Test
  void shouldIgnoreAReportAboutAnEarlierTransport() throws InterruptedException {
    int first = up();
    lifecycle.reportLoss(first, "device removed");
    lifecycle.turnOff();
    int second = up();
    lifecycle.reportLoss(first, "device removed");
    lifecycle.reportLoss(second, "port down");
    assertThat(lifecycle.awaitLoss(INTERVAL, () -> {})).isTrue();
    lifecycle.turnOff();
    assertThat(lifecycle.reasons()).containsExactly("port down");
  }

  @Test
  void shouldKeepTheFirstReasonOfALoss() {
    int number = up();
    lifecycle.reportLoss(number, "device removed");
    lifecycle.reportLoss(number, "port down");
    lifecycle.turnOff();
    assertThat(lifecycle.reasons()).containsExactly("device removed");
  }

  @Test
  void shouldEndTheWaitForALossWhenStopped() throws Exception {
    up();
    CompletableFuture<Boolean> lost = new CompletableFuture<>();
    Thread waiting = awaiting(lost);
    assertThat(lifecycle.stop()).isEqualTo(State.UP);
    assertThat(lost.get(5, TimeUnit.SECONDS)).isFalse();
    waiting.join();
  }

  @Test
  void shouldEndTheWaitForALossWithTheReport() throws Exception {
    int number = up();
    CompletableFuture<Boolean> lost = new CompletableFuture<>();
    Thread waiting = awaiting(lost);
    lifecycle.reportLoss(number, "device removed");
    assertThat(lost.get(5, TimeUnit.SECONDS)).isTrue();
    waiting.join();
  }

  @Test
  void shouldGiveItsPartsOnceAfterItWasStopped() throws InterruptedException {
    int number = up();
    lifecycle.stop();
    lifecycle.reportLoss(number, "device removed");
    assertThat(lifecycle.awaitLoss(INTERVAL, () -> {})).isFalse();
    assertThat(lifecycle.turnOff()).isEmpty();
    assertThat(lifecycle.takeParts()).contains(parts);
    assertThat(lifecycle.takeParts()).isEmpty();
  }

  @Test
  void shouldNotUseATransportThatStartedAfterTheStop() throws InterruptedException {
    lifecycle.beginAttempt();
    assertThat(lifecycle.stop()).isEqualTo(State.STARTING);
    assertThat(lifecycle.endAttempt(parts, List.of())).isFalse();
    assertThat(lifecycle.takeParts()).isEmpty();
    assertThat(lifecycle.awaitStart(LONG_NS)).isEqualTo(State.STOPPED);
  }

  @Test
  void shouldCheckAtIntervalsUntilACheckReportsTheLoss() throws InterruptedException {
    int number = up();
    AtomicInteger checks = new AtomicInteger();
    boolean lost =
        lifecycle.awaitLoss(
            Duration.ofMillis(1),
            () -> {
              if (checks.incrementAndGet() == 3) {
                lifecycle.reportLoss(number, "it hangs");
              }
            });
    assertThat(lost).isTrue();
    assertThat(checks).hasValue(3);
  }

  /** Returns when the thread waits. */
  private Thread awaiting(CompletableFuture<Boolean> lost) {
    Thread waiting =
        new Thread(
            () -> {
              try {
                lost.complete(lifecycle.awaitLoss(INTERVAL, () -> {}));
              } catch (InterruptedException e) {
                lost.completeExceptionally(e);
              }
            });
    waiting.start();
    while (waiting.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
    return waiting;
  }

  private int up() {
    int number = lifecycle.beginAttempt().getAsInt();
    assertThat(lifecycle.endAttempt(parts, List.of())).isTrue();
    return number;
  }

  @Test
  void shouldBeginNoAttemptAfterStop() {
    lifecycle.stop();
    assertThat(lifecycle.beginAttempt()).isEmpty();
    assertThat(lifecycle.state()).isEqualTo(State.STOPPED);
  }
}
