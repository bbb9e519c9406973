// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.spark.TaskKilledException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.runtime.RuntimeLifecycle.State;
import org.sparkrdma.shuffle.settings.ShuffleSetting;

/**
 * Tasks of {@code mode=required}: they wait until RDMA is up, and end where it is off or its start
 * hangs. While the executor ends none is refused, because Spark would count that as a failure of
 * the task: they read with Spark's own client.
 */
final class RequiredMode {
  private static final Logger LOG = LoggerFactory.getLogger(RequiredMode.class);

  /**
   * Time for which tasks that need RDMA wait for another executor that has it, from the first of
   * them on. It does not begin with the executor, which may be idle for long before its first task.
   * After a pause as long, they belong to another job, and wait anew.
   */
  private static final long OTHERS_LIMIT_NS = Duration.ofSeconds(20).toNanos();

  /** Interval of the requests to exclude this executor. */
  private static final long INTERVAL_MS = 500;

  private final RuntimeLifecycle lifecycle;
  private final Supplier<CompletableFuture<Boolean>> exclusion;
  private final Duration answerLimit;
  private final LongSupplier nanoClock;
  private final Pause pause;

  /** Guarded by this object: whether a task has asked, the first since a pause, and the last. */
  private boolean asked;

  private long firstAskedNs;
  private long lastAskedNs;

  /** A wait of a task's thread. */
  interface Pause {
    void await(long milliseconds) throws InterruptedException;
  }

  /**
   * @param exclusion requests the exclusion of this executor, and completes with whether the driver
   *     gives it no more tasks
   * @param answerLimit time for which a task repeats a request that the driver does not answer
   */
  RequiredMode(
      RuntimeLifecycle lifecycle,
      Supplier<CompletableFuture<Boolean>> exclusion,
      Duration answerLimit) {
    this(lifecycle, exclusion, answerLimit, System::nanoTime, TimeUnit.MILLISECONDS::sleep);
  }

  /**
   * Uses another clock; see above.
   *
   * @param nanoClock as {@link System#nanoTime}
   */
  RequiredMode(
      RuntimeLifecycle lifecycle,
      Supplier<CompletableFuture<Boolean>> exclusion,
      Duration answerLimit,
      LongSupplier nanoClock,
      Pause pause) {
    this.lifecycle = lifecycle;
    this.exclusion = exclusion;
    this.answerLimit = answerLimit;
    this.nanoClock = nanoClock;
    this.pause = pause;
  }

  /** See {@link RdmaRuntime#require}. */
  void require(Duration atMost) {
    State now;
    try {
      now = lifecycle.awaitStart(atMost.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while RDMA was starting", e);
    }
    if (!isWithoutRdma(now)) {
      return;
    }
    String message = ShuffleSetting.MODE.key() + "=required and RDMA is not up: " + reason(now);
    if (awaitExclusion()) {
      throw new TaskKilledException(message);
    }
    if (isWithoutRdma(lifecycle.state())) {
      throw new IllegalStateException(message);
    }
  }

  private String reason(State now) {
    List<String> reasons = lifecycle.reasons();
    return now == State.STARTING && reasons.isEmpty()
        ? "still starting"
        : String.join("; ", reasons);
  }

  /**
   * Requests the exclusion again and again for a while: at the start of an application other
   * executors may still be missing, and a busy driver may not answer in time. Ends when RDMA comes
   * up or the executor stops.
   */
  private boolean awaitExclusion() {
    long beginNs = nanoClock.getAsLong();
    boolean again = true;
    try {
      while (again && isWithoutRdma(lifecycle.state())) {
        try {
          noteTask();
          if (exclusion.get().get()) {
            return true;
          }
          again = mayWaitForOthers();
        } catch (InterruptedException e) {
          throw e;
        } catch (Throwable e) {
          // An Error too, such as a refused thread: Spark would end this executor for it.
          again = nanoClock.getAsLong() - beginNs <= answerLimit.toNanos();
          logMissingAnswer(again, e);
        }
        if (again) {
          pause.await(INTERVAL_MS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /** A task begins a request. The time until the answer is no pause between jobs. */
  private synchronized void noteTask() {
    long nowNs = nanoClock.getAsLong();
    if (!asked || nowNs - lastAskedNs > OTHERS_LIMIT_NS) {
      asked = true;
      firstAskedNs = nowNs;
    }
    lastAskedNs = nowNs;
  }

  /** An answer has come; returns whether tasks may wait for other executors. */
  private synchronized boolean mayWaitForOthers() {
    lastAskedNs = nanoClock.getAsLong();
    return lastAskedNs - firstAskedNs <= OTHERS_LIMIT_NS;
  }

  private static boolean isWithoutRdma(State now) {
    return now != State.UP && now != State.STOPPED;
  }

  private static void logMissingAnswer(boolean again, Throwable e) {
    if (again) {
      LOG.debug("The driver does not answer the request to exclude this executor; repeating", e);
    } else {
      LOG.info("Cannot ask the driver to exclude this executor; its task fails", e);
    }
  }
}
