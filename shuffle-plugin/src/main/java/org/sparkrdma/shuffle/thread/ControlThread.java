// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of an executor for work that may wait for the driver or for a device: starts and
 * ends of RDMA, the directory, timers. Its creator starts it once, so that the system refuses no
 * thread later, and shuts it down. Tasks handed in after that are ignored.
 *
 * <p>A task that throws is logged, and the thread goes on. A fatal Error leaves the thread and
 * reaches the JVM's handler: in an executor Spark's, which ends it.
 */
public final class ControlThread extends ScheduledThreadPoolExecutor {
  private static final Logger LOG = LoggerFactory.getLogger(ControlThread.class);

  private volatile Thread thread;

  /** Creates the thread without starting it. */
  public ControlThread() {
    super(1, new DiscardPolicy());
    setThreadFactory(this::daemon);
    setRemoveOnCancelPolicy(true);
    setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
  }

  private Thread daemon(Runnable work) {
    Thread created = new Thread(work, "rdma-control");
    created.setDaemon(true);
    created.setContextClassLoader(ControlThread.class.getClassLoader());
    thread = created;
    return created;
  }

  /**
   * Starts the thread.
   *
   * @throws ThreadShortageException when the system refuses it
   */
  public void start() {
    try {
      prestartCoreThread();
    } catch (OutOfMemoryError e) {
      throw ThreadShortageException.of("rdma-control", e);
    }
  }

  /** Whether it was started and is not shut down. */
  public boolean isRunning() {
    return thread != null && !isShutdown();
  }

  /** Interrupts the task that runs now; without one it does nothing. */
  public void interrupt() {
    Thread running = thread;
    if (running != null) {
      running.interrupt();
    }
  }

  /** Superclass keeps what a task has thrown in its future, where nothing would see it. */
  @Override
  protected void afterExecute(Runnable task, Throwable thrown) {
    super.afterExecute(task, thrown);
    if (!(task instanceof Future<?> future) || !future.isDone()) {
      return;
    }
    try {
      future.get();
    } catch (CancellationException e) {
      LOG.trace("A task of the control thread was cancelled", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof VirtualMachineError fatal) {
        throw fatal;
      }
      LOG.warn("Unexpected failure of a task of the control thread", e.getCause());
    }
  }
}
