// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.TaskThreads;

/** Pauses that take no time. Safe for any thread. */
final class VirtualPause implements TcpRequestQueues.Pause {
  /** Number of threads of these fallbacks for peers that have not answered. */
  static final int THREADS = 4;

  private long totalMs;

  @Override
  public synchronized boolean tryStart(TaskThreads threads, TaskThreads.Task queue, long ms) {
    boolean started = threads.tryExecuteAfter(queue, 0);
    totalMs += started ? ms : 0;
    return started;
  }

  /** Sum of all pauses. */
  synchronized long totalMs() {
    return totalMs;
  }

  /** A fallback with these pauses and four threads for peers that have not answered. */
  TcpFallback tcp(FakeSparkClient spark, ShuffleCounters counters) {
    return tcp(
        spark, counters, TaskThreads.named("rdma-tcp-fallback"), this, new ConcurrentHashMap<>());
  }

  /** A fallback with four threads for peers that have not answered. */
  static TcpFallback tcp(
      FakeSparkClient spark,
      ShuffleCounters counters,
      ThreadFactory factory,
      TcpRequestQueues.Pause pause,
      Map<String, TcpRequestQueue> queues) {
    return new TcpFallback(
        spark,
        counters,
        new TaskThreads(TaskThreads.named("rdma-tcp-fallback"), 1, THREADS, Duration.ofSeconds(30)),
        new TaskThreads(factory, 1, THREADS, Duration.ofSeconds(30)),
        pause,
        queues);
  }
}
