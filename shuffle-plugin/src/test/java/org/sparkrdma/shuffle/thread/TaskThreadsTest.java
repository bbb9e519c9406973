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
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.CapturedLog;

@Timeout(60)
class TaskThreadsTest {
  private static final int MAX = 4;
  private static final Duration LONG = Duration.ofHours(1);

  private final List<Thread> created = new ArrayList<>();
  private final List<TaskThreads> opened = new ArrayList<>();

  /** The requests that {@link TaskThreads} runs one second after a refusal. */
  private final List<Runnable> later = new ArrayList<>();

  @AfterEach
  void close() throws InterruptedException {
    for (TaskThreads threads : opened) {
      threads.close();
      assertThat(threads.await(Duration.ofSeconds(30))).isTrue();
    }
  }

  private TaskThreads threads(int min, Duration maxIdle) {
    ThreadFactory named = TaskThreads.named("rdma-test");
    return opened(
        new TaskThreads(
            task -> {
              Thread thread = named.newThread(task);
              created.add(thread);
              return thread;
            },
            min,
            MAX,
            maxIdle));
  }

  private TaskThreads opened(TaskThreads threads) {
    opened.add(threads);
    return threads;
  }

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
  void shouldQueueATaskForALivingThreadWhenTheSystemRefusesAnother() throws InterruptedException {
    TaskThreads threads = opened(new TaskThreads(new RefusingThreads(1), 1, MAX, LONG));
    threads.start();
    CountDownLatch held = new CountDownLatch(1);
    Set<Thread> used = ConcurrentHashMap.newKeySet();
    CountDownLatch run = new CountDownLatch(10);
    threads.execute(() -> await(held));
    for (int i = 0; i < 10; i++) {
      threads.execute(
          () -> {
            used.add(Thread.currentThread());
            run.countDown();
          });
    }
    assertThat(run.getCount()).isEqualTo(10);
    held.countDown();
    run.await();
    assertThat(used).hasSize(1).doesNotContain(Thread.currentThread());
  }

  @Test
  void shouldRequestAnotherThreadAtMostOnceASecond() {
    AtomicLong nowNs = new AtomicLong();
    RefusingThreads factory = new RefusingThreads(1);
    TaskThreads threads = opened(new TaskThreads(factory, 1, MAX, LONG, nowNs::get, later::add));
    threads.start();
    CountDownLatch held = new CountDownLatch(1);
    for (int i = 0; i < 10; i++) {
      threads.execute(() -> await(held));
    }
    assertThat(factory.created()).isEqualTo(2);
    nowNs.set(TimeUnit.SECONDS.toNanos(1));
    for (int i = 0; i < 10; i++) {
      threads.execute(() -> await(held));
    }
    assertThat(factory.created()).isEqualTo(3);
    assertThat(later).as("later requests").hasSize(1);
    held.countDown();
  }

  @Test
  void shouldRequestRefusedThreadsAgainWithoutAnotherTask() {
    RefusingThreads factory = new RefusingThreads(1);
    TaskThreads threads = opened(new TaskThreads(factory, 1, MAX, LONG, () -> 0, later::add));
    threads.start();
    CountDownLatch held = new CountDownLatch(1);
    Phaser together = new Phaser(3);
    threads.execute(() -> await(held));
    threads.execute(together::arriveAndAwaitAdvance);
    threads.execute(together::arriveAndAwaitAdvance);
    assertThat(factory.created()).isEqualTo(2);
    later.remove(0).run();
    assertThat(factory.created()).as("refused again").isEqualTo(3);
    factory.allow(2);
    later.remove(0).run();
    together.arriveAndAwaitAdvance();
    assertThat(factory.created()).isEqualTo(5);
    assertThat(later).isEmpty();
    held.countDown();
  }

  @Test
  void shouldRequestNoThreadWhenNoTaskWaits() throws InterruptedException {
    RefusingThreads factory = new RefusingThreads(1);
    TaskThreads threads = opened(new TaskThreads(factory, 1, MAX, LONG, () -> 0, later::add));
    threads.start();
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch run = new CountDownLatch(1);
    threads.execute(() -> await(held));
    threads.execute(run::countDown);
    held.countDown();
    run.await();
    later.remove(0).run();
    assertThat(factory.created()).isEqualTo(2);
    assertThat(later).isEmpty();
  }

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
  void shouldBeExhaustedWhileTheSystemRefusesAnotherThread() {
    AtomicLong nowNs = new AtomicLong();
    TaskThreads threads =
        opened(new TaskThreads(new RefusingThreads(1), 1, MAX, LONG, nowNs::get, later::add));
    threads.start();
    CountDownLatch held = new CountDownLatch(1);
    threads.execute(() -> await(held));
    assertThat(threads.isExhausted()).as("another may start").isFalse();
    threads.execute(() -> await(held));
    assertThat(threads.isExhausted()).isTrue();
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(threads.isExhausted()).as("another may start again").isFalse();
    held.countDown();
  }

  private static void runOne(TaskThreads threads) throws InterruptedException {
    CountDownLatch run = new CountDownLatch(1);
    threads.execute(run::countDown);
    run.await();
  }

  @Test
  void shouldNameTheThreadThatTheSystemRefusesAtTheStart() {
    AtomicInteger left = new AtomicInteger(1);
    ThreadFactory named = TaskThreads.named("rdma-test");
    TaskThreads threads =
        opened(
            new TaskThreads(
                task -> {
                  Thread thread = named.newThread(task);
                  if (left.getAndDecrement() > 0) {
                    return thread;
                  }
                  Thread refused = new RefusingThreads(0).newThread(task);
                  refused.setName(thread.getName());
                  return refused;
                },
                2,
                MAX,
                LONG));
    assertThatThrownBy(threads::start)
        .isInstanceOf(ThreadShortageException.class)
        .hasMessage(
            "cannot start the thread rdma-test-2: java.lang.OutOfMemoryError: unable to create"
                + " native thread");
  }

  @Test
  void shouldThrowWhenTheSystemRefusesTheFirstThread() {
    TaskThreads threads = opened(new TaskThreads(new RefusingThreads(0), 1, MAX, LONG));
    assertThatThrownBy(() -> threads.execute(() -> {})).isInstanceOf(ThreadShortageException.class);
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

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
