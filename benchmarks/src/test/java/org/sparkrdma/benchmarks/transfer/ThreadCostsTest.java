// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ThreadCostsTest {
  private static final int BYTES = 1 << 20;

  @Test
  void shouldKnowRolesByTheNamesOfThreads() {
    assertThat(ThreadRole.of("rdma-agent")).isEqualTo(ThreadRole.AGENT);
    assertThat(ThreadRole.of("soft-rdma-soft0")).isEqualTo(ThreadRole.DEVICE);
    assertThat(ThreadRole.of("rdma-delivery-1")).isEqualTo(ThreadRole.DELIVERY);
    assertThat(ThreadRole.of("rdma-directory")).isEqualTo(ThreadRole.PLUGIN);
    assertThat(ThreadRole.of("main")).isEqualTo(ThreadRole.OTHER);
  }

  @Test
  @Timeout(30)
  void shouldCountWhatEachRoleUsesBetweenTwoTimes() throws Exception {
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
                end.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "rdma-agent");
    thread.start();
    ThreadCosts before = ThreadCosts.now();
    begin.countDown();
    done.await();
    ThreadCost agent = ThreadCosts.now().since(before).get(ThreadRole.AGENT);
    end.countDown();
    thread.join();
    assertThat(agent.allocatedBytes()).isBetween((long) BYTES, 2L * BYTES);
    assertThat(agent.cpuNs()).isPositive();
    assertThat(kept[0]).hasSize(BYTES);
  }
}
