// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Threads that compare suspect blocks with the TCP data. A comparison takes about a second per GiB
 * and would otherwise block the thread of Spark's client. The first thread starts with the first
 * comparison. Safe for any thread; owned by {@link TcpFallback}.
 */
final class ComparisonThreads implements AutoCloseable {
  /** Maximum number of comparisons that run or wait. */
  static final int MAX_OPEN = 64;

  private static final int MAX_THREADS = 2;
  private static final Duration MAX_IDLE = Duration.ofSeconds(30);

  private final TaskThreads threads =
      new TaskThreads(TaskThreads.named("rdma-compare"), 1, MAX_THREADS, MAX_IDLE);

  private final AtomicInteger open = new AtomicInteger();

  /**
   * Runs a comparison on another thread, which calls {@link #onEnd} after it. Allocates nothing.
   *
   * @return false when there are too many, or no thread: the caller compares
   */
  boolean tryStart(TaskThreads.Task comparison) {
    if (open.incrementAndGet() <= MAX_OPEN) {
      try {
        threads.execute(comparison);
        return true;
      } catch (Throwable e) {
        // Closed, or the system refuses the first thread.
      }
    }
    onEnd();
    return false;
  }

  /** A comparison has ended. */
  void onEnd() {
    open.decrementAndGet();
  }

  /** Takes no more comparisons; those that were taken are made. */
  @Override
  public void close() {
    threads.close();
  }
}
