// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;
import org.sparkrdma.cluster.LaunchException;

/**
 * Stops one executor of this host with SIGSTOP for some time, once, when the first of its tasks
 * that read a shuffle has ended and others still read. Sums what the tasks of the other executors
 * take meanwhile.
 *
 * <p>Spark's listener thread writes it; others may read it when the listener bus is empty.
 */
final class FrozenExecutor extends SparkListener {
  /** Id of the executor. */
  static final String ID = "0";

  /** So long after the stop, blocks must come by READ again. */
  private static final int RECOVERED_SECONDS = 60;

  private final long pid;
  private final int seconds;
  private Process stop;
  private long stoppedNs;
  private long othersTaskMs;
  private long othersFetchWaitMs;

  /**
   * @param pid the executor's process
   * @param seconds how long it is stopped
   */
  FrozenExecutor(long pid, int seconds) {
    this.pid = pid;
    this.seconds = seconds;
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    boolean reads =
        end.taskMetrics() != null
            && end.taskMetrics().shuffleReadMetrics().totalBlocksFetched() > 0;
    if (!end.taskInfo().executorId().equals(ID)) {
      othersTaskMs += end.taskInfo().duration();
      othersFetchWaitMs += reads ? end.taskMetrics().shuffleReadMetrics().fetchWaitTime() : 0;
    } else if (reads && stop == null) {
      stop();
    }
  }

  /** A process of its own continues the executor, whatever becomes of this one. */
  private void stop() {
    String command = "kill -STOP %1$d && sleep %2$d; kill -CONT %1$d";
    try {
      stop = new ProcessBuilder("sh", "-c", command.formatted(pid, seconds)).start();
      stoppedNs = System.nanoTime();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * What the others took, when the executor runs again.
   *
   * @param after bytes of a run after {@link #awaitRecovery}; null without one
   * @throws LaunchException when it was not stopped
   */
  RunResult.Frozen result(RunResult.ByPath after) throws LaunchException, InterruptedException {
    if (stop == null || stop.waitFor() != 0) {
      throw new LaunchException("executor " + ID + " was not stopped while it read");
    }
    return new RunResult.Frozen(othersTaskMs / 1e3, othersFetchWaitMs / 1e3, after);
  }

  /** Waits for the time after which what had failed is tried again. */
  void awaitRecovery() throws InterruptedException {
    long leftNs =
        TimeUnit.SECONDS.toNanos(seconds + RECOVERED_SECONDS) - (System.nanoTime() - stoppedNs);
    TimeUnit.NANOSECONDS.sleep(leftNs);
  }
}
