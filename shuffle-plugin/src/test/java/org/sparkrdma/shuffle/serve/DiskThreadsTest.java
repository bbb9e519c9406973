// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.shuffle.thread.RefusingThreads;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

@Timeout(60)
class DiskThreadsTest {
  @Test
  void shouldQueueJobsForALivingThreadOfTheDiskWhenTheSystemRefusesOthers()
      throws InterruptedException {
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch run = new CountDownLatch(9);
    Set<Thread> used = ConcurrentHashMap.newKeySet();
    try (DiskThreads threads = new DiskThreads(name -> new RefusingThreads(1))) {
      DiskQueue disk = threads.open(1, () -> 0).get(0);
      disk.execute(1, () -> await(held));
      for (int i = 0; i < 9; i++) {
        disk.execute(
            i,
            () -> {
              used.add(Thread.currentThread());
              run.countDown();
            });
      }
      held.countDown();
      run.await();
    }
    assertThat(used).hasSize(1).doesNotContain(Thread.currentThread());
  }

  @Test
  void shouldThrowWhenNoThreadOfTheDiskWouldEverRunTheJob() {
    try (DiskThreads threads = new DiskThreads(name -> new RefusingThreads(0))) {
      DiskQueue disk = threads.open(1, () -> 0).get(0);
      assertThatThrownBy(() -> disk.execute(1, () -> {}))
          .isInstanceOf(ThreadShortageException.class);
      assertThat(disk.peers()).as("nothing waits").isZero();
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
