// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The end of a thread whose memory the caller goes on to free. Stateless. */
public final class ThreadJoin {
  private ThreadJoin() {}

  /**
   * Waits for the end of a thread, also after an interrupt, which is restored.
   *
   * @return false when it still runs after the limit
   */
  public static boolean await(Thread thread, Duration limit) {
    boolean interrupted = false;
    long deadlineNs = System.nanoTime() + limit.toNanos();
    long leftNs = deadlineNs - System.nanoTime();
    while (thread.isAlive() && leftNs > 0) {
      try {
        TimeUnit.NANOSECONDS.timedJoin(thread, leftNs);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      leftNs = deadlineNs - System.nanoTime();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }
}
