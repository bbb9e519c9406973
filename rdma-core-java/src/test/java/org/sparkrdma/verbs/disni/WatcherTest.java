// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks between the turns of a watcher, and its end. */
@Timeout(60)
class WatcherTest {
  private static final String NAME = "watched";
  private static final AtomicInteger FAILURES = new AtomicInteger();

  private final AtomicReference<String> ranOn = new AtomicReference<>();

  private static void pause() {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
  }

  private void run() {
    ranOn.set(Thread.currentThread().getName());
  }

  private static Watcher start(Watcher.Turn turn) {
    var watcher = new Watcher(NAME, Thread::new, turn, FAILURES::incrementAndGet);
    watcher.start();
    return watcher;
  }

  @Test
  void shouldRunATaskBetweenTurnsAndAfterItsEnd() {
    AtomicBoolean inTurn = new AtomicBoolean();
    Watcher watcher =
        start(
            () -> {
              inTurn.set(true);
              pause();
              inTurn.set(false);
            });
    for (int i = 0; i < 20; i++) {
      watcher.runBetweenTurns(() -> assertThat(inTurn).isFalse());
    }
    watcher.close();
    watcher.runBetweenTurns(this::run);
    assertThat(ranOn).hasValue(Thread.currentThread().getName());
  }

  @Test
  void shouldThrowTheFailureOfATaskInItsCallerAndGoOn() {
    try (Watcher watcher = start(WatcherTest::pause)) {
      assertThatThrownBy(
              () ->
                  watcher.runBetweenTurns(
                      () -> {
                        throw new IllegalStateException("refused by the test");
                      }))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("refused by the test");
      assertThatThrownBy(
              () ->
                  watcher.runBetweenTurns(
                      () -> {
                        throw new OutOfMemoryError("no memory");
                      }))
          .isInstanceOf(OutOfMemoryError.class);
      watcher.runBetweenTurns(this::run);
      assertThat(ranOn).hasValue(Thread.currentThread().getName());
    }
  }

  @Test
  void shouldReportItsFailureOnceAndNotItsClose() {
    FAILURES.set(0);
    start(WatcherTest::pause).close();
    assertThat(FAILURES).hasValue(0);
    Watcher failing =
        start(
            () -> {
              throw new IOException("refused by the test");
            });
    while (FAILURES.get() == 0) {
      Thread.onSpinWait();
    }
    failing.close();
    assertThat(FAILURES).hasValue(1);
  }

  @Test
  void shouldEndWhenTasksFailAfterItsLastTurn() throws Exception {
    var failing = new AtomicReference<Throwable>();
    var asked = new CountDownLatch(1);
    var caller = new AtomicReference<Thread>();
    Watcher watcher =
        start(
            () -> {
              awaitBlocked(asked, caller);
              throw new IOException("the device is gone");
            });
    caller.set(
        new Thread(
            () ->
                watcher.runBetweenTurns(
                    () -> {
                      throw new IllegalStateException("refused by the test");
                    }),
            "caller"));
    caller.get().setUncaughtExceptionHandler((thread, failure) -> failing.set(failure));
    caller.get().start();
    asked.countDown();
    caller.get().join();
    watcher.close();
    assertThat(failing.get()).hasMessage("refused by the test");
    watcher.runBetweenTurns(this::run);
    assertThat(ranOn).hasValue(Thread.currentThread().getName());
  }

  /** Returns when the caller waits for its task. */
  private static void awaitBlocked(CountDownLatch asked, AtomicReference<Thread> caller) {
    try {
      asked.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    while (caller.get().getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }
}
