// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks between the turns of a watcher. */
@Timeout(60)
class WatcherTest {
  private static final String NAME = "watched";
  private final AtomicReference<String> ranOn = new AtomicReference<>();

  private static void pause() {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
  }

  private void run() {
    ranOn.set(Thread.currentThread().getName());
  }

  private static Watcher start(Watcher.Turn turn) {
    var watcher = new Watcher(Thread::new, NAME, turn, () -> {});
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
}
