// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads on which lanes are served: an idle one before a new one, a new one before waiting, and
 * waiting when there are as many as there may be. {@link ThreadPoolExecutor} by itself waits before
 * it makes a thread beyond its core size, and makes one up to that even when others are idle.
 */
final class LaneThreads {
  private static final long IDLE_SECONDS = 30;

  private LaneThreads() {}

  /** A pool of daemons that end when unused; after its shutdown it rejects. */
  static ThreadPoolExecutor atMost(int maxThreads) {
    AtomicInteger number = new AtomicInteger();
    return new ThreadPoolExecutor(
        0,
        maxThreads,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        new HandOver(),
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

  /** What is offered goes to an idle thread or to nobody; what is added waits. */
  private static final class HandOver extends LinkedTransferQueue<Runnable> {
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
