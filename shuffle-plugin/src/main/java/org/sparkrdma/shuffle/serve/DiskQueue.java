// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * Jobs that wait for the threads of one disk, in the order of their arrival. Safe for any thread.
 */
final class DiskQueue {
  private final Executor threads;
  private final LongSupplier nanoClock;

  /** Times of arrival of the jobs that have not begun. */
  private final ArrayDeque<Long> waitingSinceNs = new ArrayDeque<>();

  /**
   * @param threads must begin jobs in the order in which it gets them
   */
  DiskQueue(Executor threads, LongSupplier nanoClock) {
    this.threads = threads;
    this.nanoClock = nanoClock;
  }

  /**
   * Runs a job on a thread of this disk.
   *
   * @throws java.util.concurrent.RejectedExecutionException when the threads are stopped
   */
  void execute(Runnable job) {
    synchronized (waitingSinceNs) {
      waitingSinceNs.add(nanoClock.getAsLong());
    }
    boolean accepted = false;
    try {
      threads.execute(
          () -> {
            leave();
            job.run();
          });
      accepted = true;
    } finally {
      if (!accepted) {
        leave();
      }
    }
  }

  private void leave() {
    synchronized (waitingSinceNs) {
      waitingSinceNs.poll();
    }
  }

  /** Time for which the oldest waiting job has been waiting; 0 without one. */
  long waitNs(long nowNs) {
    synchronized (waitingSinceNs) {
      Long oldest = waitingSinceNs.peek();
      return oldest == null ? 0 : nowNs - oldest;
    }
  }
}
