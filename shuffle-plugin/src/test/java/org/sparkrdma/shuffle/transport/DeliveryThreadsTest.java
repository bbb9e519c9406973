// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DeliveryThreadsTest {
  @Test
  void shouldWriteToOtherDisksBesideTwoWritesThatHang() throws Exception {
    DeliveryThreads threads = new DeliveryThreads(2);
    CountDownLatch works = new CountDownLatch(1);
    CountDownLatch written = new CountDownLatch(1);
    for (int i = 0; i < 2; i++) {
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

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
