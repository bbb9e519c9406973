// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads of which only the first ones start, as when the system's limit is reached. */
public final class RefusingThreads implements ThreadFactory {
  private final int allowed;
  private final AtomicInteger created = new AtomicInteger();

  /**
   * @param allowed number of threads that start
   */
  public RefusingThreads(int allowed) {
    this.allowed = allowed;
  }

  /** Number of threads that were requested. */
  public int created() {
    return created.get();
  }

  @Override
  public Thread newThread(Runnable task) {
    boolean refused = created.incrementAndGet() > allowed;
    return new Thread(task) {
      @Override
      public synchronized void start() {
        if (refused) {
          throw new OutOfMemoryError("unable to create native thread");
        }
        super.start();
      }
    };
  }
}
