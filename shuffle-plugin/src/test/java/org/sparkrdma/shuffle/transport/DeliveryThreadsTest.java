// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.fetch.DirectoryQueues;
import org.sparkrdma.shuffle.thread.RefusingThreads;
import org.sparkrdma.shuffle.thread.TaskThreads;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

@Timeout(60)
class DeliveryThreadsTest {
  @Test
  void shouldWriteToOtherDisksBesideWritesThatHang() throws Exception {
    DeliveryThreads threads = new DeliveryThreads(2);
    CountDownLatch works = new CountDownLatch(1);
    CountDownLatch written = new CountDownLatch(1);
    for (int i = 1; i < DirectoryQueues.MAX_THREADS; i++) {
      threads.diskWrite().execute(() -> await(works));
    }
    threads.diskWrite().execute(written::countDown);
    try {
      assertThat(written.await(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      works.countDown();
      threads.close();
      assertThat(threads.await(Duration.ofSeconds(30))).isTrue();
    }
  }

  @Test
  void shouldHaveAllThreadsThatDeliverAndOneThatWritesFromItsStart() {
    List<Thread> created = Collections.synchronizedList(new ArrayList<>());
    DeliveryThreads threads =
        new DeliveryThreads(
            3,
            name -> {
              ThreadFactory named = TaskThreads.named(name);
              return task -> {
                Thread thread = named.newThread(task);
                created.add(thread);
                return thread;
              };
            });
    threads.start();
    try {
      assertThat(created)
          .extracting(Thread::getName)
          .containsExactly(
              "rdma-delivery-1", "rdma-delivery-2", "rdma-delivery-3", "rdma-disk-write-1");
      assertThat(created).allMatch(Thread::isAlive);
    } finally {
      threads.close();
      assertThat(threads.await(Duration.ofSeconds(30))).isTrue();
    }
  }

  @Test
  void shouldNotStartWhenTheSystemRefusesOneOfThem() {
    RefusingThreads factory = new RefusingThreads(2);
    DeliveryThreads threads = new DeliveryThreads(3, name -> factory);
    assertThatThrownBy(threads::start)
        .isInstanceOf(ThreadShortageException.class)
        .hasMessageContaining("unable to create native thread");
    threads.close();
    assertThat(threads.await(Duration.ofSeconds(30))).isTrue();
    assertThat(factory.created()).isEqualTo(3);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
