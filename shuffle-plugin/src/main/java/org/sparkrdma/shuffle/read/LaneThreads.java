// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads that serve lanes. A task takes an idle thread, else a new one, and waits only when the
 * maximum is reached. A plain {@link ThreadPoolExecutor} queues tasks before it creates a thread
 * beyond its core size, and creates threads up to that size even when others are idle.
 */
final class LaneThreads {
  private static final long IDLE_SECONDS = 30;

  private LaneThreads() {}

  /** A pool of daemon threads that end when unused; it rejects tasks after its shutdown. */
  static ThreadPoolExecutor atMost(int maxThreads) {
    AtomicInteger number = new AtomicInteger();
    return new ThreadPoolExecutor(
        0,
        maxThreads,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        new HandOverQueue(),
        task -> {
          Thread thread = new Thread(task, "rdma-tcp-fallback-" + number.getAndIncrement());
          thread.setDaemon(true);
          return thread;
        },
        LaneThreads::waitForThread);
  }

  private static void waitForThread(Runnable task, ThreadPoolExecutor pool) {
    if (pool.isShutdown()) {
      throw new RejectedExecutionException("shut down");
    }
    pool.getQueue().add(task);
    if (pool.isShutdown() && pool.remove(task)) {
      throw new RejectedExecutionException("shut down");
    }
  }

  /** {@code offer} succeeds only with an idle thread; {@code add} queues. */
  private static final class HandOverQueue extends LinkedTransferQueue<Runnable> {
    private static final long serialVersionUID = 1L;

    @Override
    public boolean offer(Runnable task) {
      return tryTransfer(task);
    }

    @Override
    public boolean add(Runnable task) {
      return super.offer(task);
    }
  }
}
