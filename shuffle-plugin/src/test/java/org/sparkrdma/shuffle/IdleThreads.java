// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** CPU use of the threads that wait for devices, peers or starts for as long as executors live. */
public final class IdleThreads {
  private static final List<String> NAMES =
      List.of("rdma-agent", "rdma-queue-pairs", "rdma-cm", "rdma-control");

  /** Maximum CPU use of all of them together, in percent of one core. */
  private static final double MAX_PERCENT = 1;

  private static final long MEASURED_MS = 100;

  /**
   * For longer than an attempt of a connection, which keeps its agent busy, outlasts its blocks.
   */
  private static final int MEASUREMENTS = 50;

  private IdleThreads() {}

  /** The lowest of a few measurements: late events and the compiler may disturb one. */
  public static void assertIdle() throws InterruptedException {
    double lowest = 100;
    for (int i = 0; i < MEASUREMENTS && lowest >= MAX_PERCENT; i++) {
      long startNs = System.nanoTime();
      long startCpuNs = cpuNs();
      new CountDownLatch(1).await(MEASURED_MS, TimeUnit.MILLISECONDS);
      long cpuNs = cpuNs() - startCpuNs;
      lowest = Math.min(lowest, 100.0 * cpuNs / (System.nanoTime() - startNs));
    }
    assertThat(lowest).as("CPU use of waiting threads, in percent").isLessThan(MAX_PERCENT);
  }

  private static long cpuNs() {
    var threads = ManagementFactory.getThreadMXBean();
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> NAMES.stream().anyMatch(thread.getName()::startsWith))
        .mapToLong(thread -> Math.max(0, threads.getThreadCpuTime(thread.getId())))
        .sum();
  }
}
