// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.TaskThreads;

/** Pauses that take no time. Safe for any thread. */
final class VirtualPause extends RetryPause {
  private long totalMs;

  @Override
  public synchronized boolean test(long ms) {
    if (isOver()) {
      return false;
    }
    totalMs += ms;
    return true;
  }

  /** Sum of all pauses. */
  synchronized long totalMs() {
    return totalMs;
  }

  /** A fallback with these pauses and four threads. */
  TcpFallback tcp(FakeSparkClient spark, ShuffleCounters counters) {
    TaskThreads threads =
        new TaskThreads(TaskThreads.named("rdma-tcp-fallback"), 1, 4, Duration.ofSeconds(30));
    return new TcpFallback(spark, counters, threads, this, new ConcurrentHashMap<>());
  }
}
