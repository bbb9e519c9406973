// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class LaneThreadsTest {
  private static final int MAX = 4;

  private final ThreadPoolExecutor threads = LaneThreads.atMost(MAX);

  @AfterEach
  void shutDown() throws InterruptedException {
    threads.shutdownNow();
    assertThat(threads.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void shouldUseAnIdleThreadBeforeItCreatesAnother() throws Exception {
    for (int i = 0; i < 100; i++) {
      threads.submit(() -> {}).get();
      awaitIdle(1);
    }
    assertThat(threads.getLargestPoolSize()).isEqualTo(1);
  }

  @Test
  void shouldCreateAThreadForEachConcurrentTask() {
    Phaser together = new Phaser(MAX + 1);
    for (int i = 0; i < MAX; i++) {
      threads.execute(together::arriveAndAwaitAdvance);
    }
    together.arriveAndAwaitAdvance();
    assertThat(threads.getLargestPoolSize()).isEqualTo(MAX);
  }

  @Test
  void shouldRunAllTasksOnTheMaximumOfThreads() throws Exception {
    int tasks = 1_000;
    Set<String> names = ConcurrentHashMap.newKeySet();
    CountDownLatch run = new CountDownLatch(tasks);
    for (int i = 0; i < tasks; i++) {
      threads.execute(
          () -> {
            names.add(Thread.currentThread().getName());
            run.countDown();
          });
    }
    run.await();
    assertThat(names).hasSizeLessThanOrEqualTo(MAX);
    assertThat(threads.getLargestPoolSize()).isLessThanOrEqualTo(MAX);
  }

  @Test
  void shouldRejectWhenItIsShutDown() {
    threads.shutdown();
    assertThatThrownBy(() -> threads.execute(() -> {}))
        .isInstanceOf(RejectedExecutionException.class);
  }

  /** A thread that has finished a task needs a moment until it waits for the next. */
  private void awaitIdle(int count) {
    while (((LinkedTransferQueue<?>) threads.getQueue()).getWaitingConsumerCount() < count) {
      Thread.onSpinWait();
    }
  }
}
