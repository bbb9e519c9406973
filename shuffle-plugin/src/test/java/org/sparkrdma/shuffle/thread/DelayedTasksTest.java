// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tasks that run some time after they were handed in. */
class DelayedTasksTest extends TaskThreadsFixture {
  @Test
  void shouldHoldNoThreadUntilATaskIsDue() throws InterruptedException {
    AtomicLong nowNs = new AtomicLong(Long.MAX_VALUE - 1);
    TaskThreads threads =
        opened(new TaskThreads(new RefusingThreads(1), 1, MAX, LONG, nowNs::get, later::add));
    threads.start();
    CountDownLatch due = new CountDownLatch(1);
    assertThat(threads.tryExecuteAfter(TaskThreads.Task.of(due::countDown), 100)).isTrue();
    assertThat(threads.tryExecuteAfter(TaskThreads.Task.of(() -> {}), 1_000)).isTrue();
    runOne(threads);
    nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(100) - 1);
    runOne(threads);
    assertThat(due.getCount()).as("not yet due").isEqualTo(1);
    nowNs.incrementAndGet();
    runOne(threads);
    due.await();
  }

  @Test
  void shouldRunADelayedTaskWhenItIsDueWithoutAnotherTask() throws InterruptedException {
    TaskThreads threads = threads(1, LONG);
    threads.start();
    CountDownLatch due = new CountDownLatch(1);
    assertThat(threads.tryExecuteAfter(TaskThreads.Task.of(due::countDown), 1)).isTrue();
    due.await();
  }

  /**
   * The thread that waits for the delayed tasks also takes the next task, which may be queued
   * before they are due and hold that thread.
   */
  @Test
  void shouldRunDelayedTasksWhenTheyAreDueWhileAnotherTaskHoldsTheThread()
      throws InterruptedException {
    for (int round = 0; round < 100; round++) {
      TaskThreads threads = opened(new TaskThreads(TaskThreads.named("rdma-test"), 1, MAX, LONG));
      CountDownLatch held = new CountDownLatch(1);
      Phaser due = new Phaser(3);
      threads.start();
      for (int i = 0; i < 2; i++) {
        Runnable task = due::arriveAndAwaitAdvance;
        assertThat(threads.tryExecuteAfter(TaskThreads.Task.of(task), round % 3)).isTrue();
      }
      threads.execute(() -> await(held));
      due.arriveAndAwaitAdvance();
      held.countDown();
      threads.close();
    }
  }

  @Test
  void shouldKeepTheLastIdleThreadWhileATaskIsDelayed() throws InterruptedException {
    TaskThreads threads = threads(1, Duration.ofNanos(1));
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch due = new CountDownLatch(1);
    threads.start();
    threads.execute(() -> await(held));
    threads.execute(() -> threads.tryExecuteAfter(TaskThreads.Task.of(due::countDown), 20));
    due.await();
    held.countDown();
  }

  @Test
  void shouldRunDelayedTasksAtOnceWhenDelaysEnd() throws InterruptedException {
    TaskThreads threads = threads(1, LONG);
    threads.start();
    CountDownLatch run = new CountDownLatch(2);
    for (int i = 0; i < 2; i++) {
      assertThat(threads.tryExecuteAfter(TaskThreads.Task.of(run::countDown), 3_600_000)).isTrue();
    }
    threads.endDelays();
    run.await();
    assertThat(threads.tryExecuteAfter(TaskThreads.Task.of(() -> {}), 1)).isFalse();
  }

  @Test
  void shouldRunDelayedTasksBeforeTheThreadsEnd() throws InterruptedException {
    TaskThreads threads = threads(1, LONG);
    assertThat(threads.tryExecuteAfter(TaskThreads.Task.of(() -> {}), 1))
        .as("no thread lives")
        .isFalse();
    threads.start();
    CountDownLatch run = new CountDownLatch(1);
    assertThat(threads.tryExecuteAfter(TaskThreads.Task.of(run::countDown), 3_600_000)).isTrue();
    threads.close();
    run.await();
    assertThat(threads.tryExecuteAfter(TaskThreads.Task.of(() -> {}), 1)).isFalse();
  }
}
