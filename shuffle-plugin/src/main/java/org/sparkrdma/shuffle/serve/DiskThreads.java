// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Threads for work that may wait for a disk: reads, checksums and registration. Each disk has a few
 * threads of its own, so a slow disk does not delay requests for another. Threads start with the
 * first job and end when idle. The server creates and closes it. Safe for any thread.
 */
final class DiskThreads implements AutoCloseable {
  private static final int THREADS_PER_DISK = 4;
  private static final long IDLE_SECONDS = 10;

  private final List<ThreadPoolExecutor> pools = new ArrayList<>();

  /** Opens a queue for each disk, each with threads of its own. */
  List<DiskQueue> open(int disks, LongSupplier nanoClock) {
    List<DiskQueue> queues = new ArrayList<>();
    for (int i = 0; i < disks; i++) {
      ThreadPoolExecutor pool = pool(i);
      pools.add(pool);
      queues.add(new DiskQueue(pool, nanoClock));
    }
    return List.copyOf(queues);
  }

  private static ThreadPoolExecutor pool(int disk) {
    AtomicInteger count = new AtomicInteger();
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            THREADS_PER_DISK,
            THREADS_PER_DISK,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              Thread thread = new Thread(work, "rdma-disk-" + disk + "-" + count.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Waits until all submitted jobs have ended. A disk that hangs may delay that for ever. */
  @Override
  public void close() {
    pools.forEach(ThreadPoolExecutor::shutdown);
    boolean interrupted = false;
    for (ThreadPoolExecutor pool : pools) {
      while (!pool.isTerminated()) {
        try {
          pool.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
