// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** Threads that a test opens; they end after it. */
@Timeout(60)
abstract class TaskThreadsFixture {
  static final int MAX = 4;
  static final Duration LONG = Duration.ofHours(1);

  final List<Thread> created = new ArrayList<>();
  final List<TaskThreads> opened = new ArrayList<>();

  /** The requests that {@link TaskThreads} runs one second after a refusal. */
  final List<Runnable> later = new ArrayList<>();

  @AfterEach
  void close() throws InterruptedException {
    for (TaskThreads threads : opened) {
      threads.close();
      assertThat(threads.await(Duration.ofSeconds(30))).isTrue();
    }
  }

  TaskThreads threads(int min, Duration maxIdle) {
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

  TaskThreads opened(TaskThreads threads) {
    opened.add(threads);
    return threads;
  }

  static void runOne(TaskThreads threads) throws InterruptedException {
    CountDownLatch run = new CountDownLatch(1);
    threads.execute(run::countDown);
    run.await();
  }

  static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
