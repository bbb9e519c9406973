// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.doctor;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.ExecutorFindings;

/**
 * Collects the findings of executors at the driver and logs them as one table, with those of later
 * executors as further ones. Owned by the shuffle manager, which closes it. Safe for any thread.
 */
public final class FindingsLog implements AutoCloseable {
  /** The logger of the class that users configure. */
  private static final Logger LOG =
      LoggerFactory.getLogger("org.sparkrdma.shuffle.RdmaShuffleManager");

  private static final long TICK_MS = 500;

  private final PendingFindings pending = new PendingFindings();
  private final ScheduledThreadPoolExecutor timer;
  private boolean ticking;

  /** Starts no thread before the first report. */
  public FindingsLog() {
    timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "rdma-doctor-table");
              thread.setDaemon(true);
              return thread;
            });
  }

  /** Returns at once. */
  public synchronized void report(ExecutorFindings findings) {
    pending.add(findings, System.nanoTime());
    if (!ticking) {
      ticking = true;
      schedule();
    }
  }

  private void schedule() {
    try {
      var unused = timer.schedule(this::tick, TICK_MS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("Findings arrived after the end", e);
    }
  }

  private void tick() {
    List<ExecutorFindings> due = List.of();
    synchronized (this) {
      if (pending.isDue(System.nanoTime())) {
        due = pending.takeAll();
      }
      ticking = !pending.isEmpty();
      if (ticking) {
        schedule();
      }
    }
    // Without the lock: an appender may be slow, and executors are waiting for the directory.
    log(due);
  }

  private static void log(List<ExecutorFindings> all) {
    if (all.isEmpty()) {
      return;
    }
    String table = new FindingsTable(all).text();
    if (all.stream().allMatch(ExecutorFindings::used)) {
      LOG.info("Checks of executors: {}", table);
    } else {
      LOG.warn("Checks of executors: {}", table);
    }
  }

  /** Logs what is left; a second close does nothing. */
  @Override
  public void close() {
    timer.shutdownNow();
    List<ExecutorFindings> left;
    synchronized (this) {
      left = pending.takeAll();
    }
    log(left);
  }
}
