// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads that verify and deliver blocks, and those that write them to disk. Thread-safe. */
final class DeliveryThreads implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DeliveryThreads.class);

  /** Disk threads for each delivery thread: those of a disk that hangs leave some to others. */
  private static final int DISK_THREADS = 4;

  private static final long IDLE_SECONDS = 10;

  private final ExecutorService delivery;
  private final ExecutorService diskWrite;

  /**
   * @param count number of those that deliver; four times as many write to disk
   */
  DeliveryThreads(int count) {
    delivery = Executors.newFixedThreadPool(count, named("rdma-delivery"));
    diskWrite = idleEnding(count * DISK_THREADS, named("rdma-disk-write"));
  }

  private static ExecutorService idleEnding(int max, ThreadFactory factory) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            max, max, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Creates daemon threads with numbered names. */
  static ThreadFactory named(String name) {
    AtomicInteger count = new AtomicInteger();
    return work -> {
      Thread thread = new Thread(work, name + "-" + count.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  ExecutorService delivery() {
    return delivery;
  }

  ExecutorService diskWrite() {
    return diskWrite;
  }

  /** Takes no more work; the threads end when theirs is done. */
  @Override
  public void close() {
    delivery.shutdown();
    diskWrite.shutdown();
  }

  /**
   * Waits for the end of all threads.
   *
   * @return false when interrupted
   */
  boolean await(Duration limit) {
    try {
      if (!delivery.awaitTermination(limit.toMillis(), TimeUnit.MILLISECONDS)
          || !diskWrite.awaitTermination(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.warn(
            "Delivery threads did not end within {} s after the transport stopped",
            limit.toSeconds());
      }
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }
}
