// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The leak check of this executor. It writes its state to a file at the start, and the result when
 * the executor ends: before Spark stops the shuffle manager, or in a shutdown hook.
 *
 * <p>An executor that ends in the middle of a task is not judged. {@link LeakLog} reads the files.
 * Safe for any thread; the first call of {@link #judge} judges.
 */
final class ExecutorLeaks {
  /** Maximum time for tasks to end and to release. An executor whose tasks go on is not judged. */
  private static final long TASKS_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /**
   * Maximum time for peers to release the leases that they have used, also where this machine is
   * busy; less than any time-out of leases, with which a leak would end.
   */
  private static final long LEASES_NS = TimeUnit.SECONDS.toNanos(2);

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final String TASK = "org.apache.spark.executor.Executor$TaskRunner";

  private final ProcessFiles files = ProcessFiles.of(LeakLog.VARIABLE);
  private final ProcessName name;
  private final ClassLoader loader;
  private boolean judged;

  private ExecutorLeaks(ProcessName name, ClassLoader loader) {
    this.name = name;
    this.loader = loader;
  }

  /**
   * Starts the check of this JVM.
   *
   * @param loader that finds the plug-in
   */
  static ExecutorLeaks begin(ProcessName name, ClassLoader loader) {
    ExecutorLeaks leaks = new ExecutorLeaks(name, loader);
    leaks.write(LeakLog.State.RUNNING, List.of());
    try {
      Runtime.getRuntime().addShutdownHook(new Thread(leaks::judge, "leak-check"));
    } catch (IllegalStateException e) {
      // The JVM is ending already; no task has run.
      leaks.judge();
    }
    return leaks;
  }

  /** Waits until no task runs and nothing has leaked, or the time is over; writes the result. */
  synchronized void judge() {
    if (judged) {
      return;
    }
    judged = true;
    PlugInRecords records = PlugInRecords.of(loader);
    if (records == null) {
      write(LeakLog.State.WITHOUT_PLUGIN, List.of());
      return;
    }
    if (!records.areKept()) {
      write(LeakLog.State.WITHOUT_RECORDS, List.of());
      return;
    }
    long beginNs = System.nanoTime();
    boolean busy = isRunningTask();
    List<HeldResources.Leak> leaks = HeldResources.leaks(records.outstanding());
    while ((busy || !leaks.isEmpty())
        && System.nanoTime() - beginNs < (busy || isOfTask(leaks) ? TASKS_NS : LEASES_NS)) {
      LockSupport.parkNanos(PAUSE_NS);
      // In this order: a task that has ended leaves nothing afterwards.
      busy = isRunningTask();
      leaks = HeldResources.leaks(records.outstanding());
    }
    if (busy) {
      write(LeakLog.State.IN_TASK, List.of());
    } else {
      write(LeakLog.State.JUDGED, leaks);
    }
  }

  private static boolean isOfTask(List<HeldResources.Leak> leaks) {
    return leaks.stream().anyMatch(leak -> leak.owner() == HeldResources.Owner.TASK);
  }

  /** By the stacks, because an idle thread keeps the name of its last task. */
  private static boolean isRunningTask() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Stream::of)
        .anyMatch(frame -> frame.getClassName().equals(TASK));
  }

  private void write(LeakLog.State state, List<HeldResources.Leak> leaks) {
    files.write(name, new LeakLog.Executor(name, state, leaks).text());
  }
}
