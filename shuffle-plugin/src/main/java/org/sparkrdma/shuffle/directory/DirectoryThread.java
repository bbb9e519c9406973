// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.concurrent.Future;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The one thread of a {@link DirectoryClient}. A task whose hand-over throws is not in its queue:
 * its superclass queues a task before it starts a thread, and leaves it there when the system
 * refuses the thread. Each repetition of the hand-over would add another one. Safe for any thread.
 */
final class DirectoryThread extends ScheduledThreadPoolExecutor {
  DirectoryThread(ThreadFactory threads) {
    super(1, threads);
    setRemoveOnCancelPolicy(true);
    setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /** A task, and its entry in the queue; null before it has one. */
  private static final class Queued implements Runnable {
    private final Runnable task;
    private Future<?> entry;

    Queued(Runnable task) {
      this.task = task;
    }

    @Override
    public void run() {
      task.run();
    }
  }

  /** Called by {@link #schedule}, before the entry is in the queue. */
  @Override
  protected <V> RunnableScheduledFuture<V> decorateTask(
      Runnable task, RunnableScheduledFuture<V> entry) {
    if (task instanceof Queued queued) {
      queued.entry = entry;
    }
    return entry;
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    Queued queued = new Queued(task);
    boolean accepted = false;
    try {
      ScheduledFuture<?> entry = super.schedule(queued, delay, unit);
      accepted = true;
      return entry;
    } finally {
      if (!accepted && queued.entry != null) {
        queued.entry.cancel(false);
      }
    }
  }
}
