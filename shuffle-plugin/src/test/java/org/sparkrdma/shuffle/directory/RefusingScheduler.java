// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The directory's thread, which takes no task for a time, as without memory. For any thread. */
final class RefusingScheduler extends ScheduledThreadPoolExecutor {
  private final AtomicInteger left = new AtomicInteger();

  RefusingScheduler() {
    super(1, DirectoryClient::newThread);
  }

  /** Refuses the next tasks. */
  void refuse(int tasks) {
    left.set(tasks);
  }

  /** Number of tasks that will be refused. */
  int left() {
    return left.get();
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    if (left.getAndUpdate(count -> Math.max(0, count - 1)) > 0) {
      throw new OutOfMemoryError("thrown by the test");
    }
    return super.schedule(task, delay, unit);
  }
}
