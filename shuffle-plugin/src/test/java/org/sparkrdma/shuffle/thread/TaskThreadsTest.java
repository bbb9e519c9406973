// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.CapturedLog;

class TaskThreadsTest extends TaskThreadsFixture {
  @Test
  void shouldUseAnIdleThreadBeforeItCreatesAnother() throws InterruptedException {
    TaskThreads threads = threads(1, LONG);
    Set<Thread> used = ConcurrentHashMap.newKeySet();
    CountDownLatch first = new CountDownLatch(1);
    threads.execute(first::countDown);
    first.await();
    awaitWaiting(created.get(0));
    for (int i = 0; i < 100; i++) {
      CountDownLatch run = new CountDownLatch(1);
      threads.execute(
          () -> {
            used.add(Thread.currentThread());
            run.countDown();
          });
      run.await();
      awaitWaiting(created.get(0));
    }
    assertThat(used).containsExactly(created.get(0));
    assertThat(created).hasSize(1);
  }

  @Test
  void shouldCreateAThreadForEachConcurrentTask() {
    TaskThreads threads = threads(1, LONG);
    threads.start();
    Phaser together = new Phaser(MAX + 1);
    for (int i = 0; i < MAX; i++) {
      threads.execute(together::arriveAndAwaitAdvance);
    }
    together.arriveAndAwaitAdvance();
    assertThat(created).hasSize(MAX);
    assertThat(created).allMatch(Thread::isDaemon);
    assertThat(created.get(0).getName()).isEqualTo("rdma-test-1");
  }

  @Test
  void shouldRunAllTasksOnTheMaximumOfThreads() throws InterruptedException {
    TaskThreads threads = threads(1, LONG);
    int tasks = 1_000;
    CountDownLatch run = new CountDownLatch(tasks);
    for (int i = 0; i < tasks; i++) {
      threads.execute(run::countDown);
    }
    run.await();
    assertThat(created).hasSizeBetween(1, MAX);
  }

  @Test
  void shouldRunTasksInOrderOnOneThread() throws InterruptedException {
    TaskThreads threads = opened(new TaskThreads(TaskThreads.named("rdma-test"), 1, 1, LONG));
    List<Integer> order = new ArrayList<>();
    CountDownLatch last = new CountDownLatch(1);
    for (int i = 0; i < 100; i++) {
      int number = i;
      threads.execute(() -> order.add(number));
    }
    threads.execute(last::countDown);
    last.await();
    assertThat(order).hasSize(100).isSorted();
  }

  @Test
  void shouldStartTheMinimumOfThreadsAndKeepThem() throws InterruptedException {
    TaskThreads threads = threads(2, Duration.ofNanos(1));
    threads.start();
    assertThat(created).hasSize(2);
    Phaser together = new Phaser(MAX + 1);
    for (int i = 0; i < MAX; i++) {
      threads.execute(together::arriveAndAwaitAdvance);
    }
    together.arriveAndAwaitAdvance();
    while (alive() > 2) {
      Thread.onSpinWait();
    }
    CountDownLatch run = new CountDownLatch(1);
    threads.execute(run::countDown);
    run.await();
    assertThat(alive()).isGreaterThanOrEqualTo(2);
  }

  @Test
  void shouldBeExhaustedWhileAnotherTaskWouldWait() throws InterruptedException {
    TaskThreads threads = threads(1, LONG);
    assertThat(threads.isExhausted()).as("before the first thread").isFalse();
    CountDownLatch held = new CountDownLatch(1);
    for (int i = 0; i < MAX; i++) {
      assertThat(threads.isExhausted()).isFalse();
      threads.execute(() -> await(held));
    }
    assertThat(threads.isExhausted()).isTrue();
    held.countDown();
  }

  @Test
  void shouldKeepAThreadWhoseTaskThrows() throws InterruptedException {
    TaskThreads threads = opened(new TaskThreads(new RefusingThreads(1), 1, MAX, LONG));
    threads.start();
    CountDownLatch run = new CountDownLatch(1);
    try (CapturedLog log = new CapturedLog(TaskThreads.class.getName())) {
      threads.execute(
          () -> {
            Thread.currentThread().interrupt();
            throw new OutOfMemoryError("thrown by the test");
          });
      threads.execute(
          () -> {
            if (!Thread.currentThread().isInterrupted()) {
              run.countDown();
            }
          });
      run.await();
      assertThat(log.warnings()).singleElement().asString().contains("its thread continues");
    }
  }

  @Test
  void shouldRunQueuedTasksAndRejectLaterTasksAfterTheClose() throws InterruptedException {
    TaskThreads threads = opened(new TaskThreads(new RefusingThreads(1), 1, MAX, LONG));
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch run = new CountDownLatch(2);
    threads.execute(() -> await(held));
    threads.execute(run::countDown);
    threads.execute(run::countDown);
    threads.close();
    assertThatThrownBy(() -> threads.execute(() -> {}))
        .isInstanceOf(RejectedExecutionException.class);
    assertThat(threads.await(Duration.ofMillis(1))).isFalse();
    held.countDown();
    run.await();
    assertThat(threads.await(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void shouldRunEachTaskOnceWhileThreadsStartAndEnd() throws InterruptedException {
    TaskThreads threads =
        opened(new TaskThreads(TaskThreads.named("rdma-test"), 1, MAX, Duration.ofNanos(1)));
    int tasks = 2_000;
    AtomicIntegerArray runs = new AtomicIntegerArray(4 * tasks);
    CountDownLatch left = new CountDownLatch(runs.length());
    List<Thread> callers = new ArrayList<>();
    for (int caller = 0; caller < 4; caller++) {
      int from = caller * tasks;
      callers.add(
          new Thread(
              () -> {
                for (int i = from; i < from + tasks; i++) {
                  int task = i;
                  threads.execute(
                      () -> {
                        runs.incrementAndGet(task);
                        left.countDown();
                      });
                }
              }));
    }
    callers.forEach(Thread::start);
    left.await();
    for (Thread caller : callers) {
      caller.join();
    }
    threads.close();
    assertThat(threads.await(Duration.ofSeconds(30))).isTrue();
    for (int i = 0; i < runs.length(); i++) {
      assertThat(runs.get(i)).isEqualTo(1);
    }
  }

  private long alive() {
    return created.stream().filter(Thread::isAlive).count();
  }

  /** Waits until a thread that has finished a task waits for the next one. */
  private static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
  }
}
