// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ThreadCostsTest {
  private static final int BYTES = 1 << 20;

  @Test
  @Timeout(30)
  void shouldCountBytesAndTheDeviceApartBetweenTwoTimes() throws Exception {
    CountDownLatch begin = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    byte[][] kept = new byte[1][];
    Thread thread =
        new Thread(
            () -> {
              try {
                begin.await();
                kept[0] = new byte[BYTES];
                done.countDown();
                await(end);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "rdma-agent");
    Thread device = new Thread(() -> await(end), "soft-rdma-soft0");
    device.start();
    thread.start();
    ThreadCosts before = ThreadCosts.now();
    begin.countDown();
    done.await();
    ThreadCosts after = ThreadCosts.now();
    end.countDown();
    thread.join();
    device.join();
    assertThat(after.allocatedBytesSince(before)).isGreaterThanOrEqualTo(BYTES);
    assertThat(after.allocatedBytes())
        .containsKey(thread.getId())
        .doesNotContainKey(device.getId());
    assertThat(after.deviceCpuNs()).containsOnlyKeys(device.getId());
    assertThat(kept[0]).hasSize(BYTES);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
