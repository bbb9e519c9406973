// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A system that refuses to start another thread. */
class RefusedThreadsTest extends TaskThreadsFixture {
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
}
