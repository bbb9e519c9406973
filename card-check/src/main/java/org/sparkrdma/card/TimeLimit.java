// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The time limit of the whole command. Processes that still run then are killed by {@link
 * ChildProcess}. If this process itself hangs in a call of the driver, its JVM ends a while later.
 * The caller closes it.
 */
final class TimeLimit implements AutoCloseable {
  private static final Duration GRACE = Duration.ofSeconds(60);

  private final ScheduledExecutorService watch =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            var thread = new Thread(task, "time limit");
            thread.setDaemon(true);
            return thread;
          });
  private final long endNs;

  private TimeLimit(Duration limit) {
    endNs = System.nanoTime() + limit.toNanos();
  }

  /** Begins to count. */
  static TimeLimit start(Duration limit, PrintWriter errors) {
    TimeLimit started = new TimeLimit(limit);
    var unused =
        started.watch.schedule(
            () -> {
              errors.println(
                  "card: the command does not end within its time limit; the device or its driver"
                      + " hangs");
              ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
              Runtime.getRuntime().halt(CardCommand.FAILED);
            },
            limit.plus(GRACE).toMillis(),
            TimeUnit.MILLISECONDS);
    return started;
  }

  /** The time that is left, at least zero. */
  Duration left() {
    return Duration.ofNanos(Math.max(0, endNs - System.nanoTime()));
  }

  @Override
  public void close() {
    watch.shutdownNow();
  }
}
