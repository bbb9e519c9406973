// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskKilledException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.runtime.RuntimeLifecycle.State;
import org.sparkrdma.shuffle.settings.ShuffleSetting;

/** Tasks of {@code mode=required}: they wait until RDMA is up, and end where it is off. */
final class RequiredMode {
  private static final Logger LOG = LoggerFactory.getLogger(RequiredMode.class);

  /** Age of an executor until which a task that needs RDMA waits for executors that have it. */
  private static final Duration OTHERS_LIMIT = Duration.ofSeconds(20);

  private static final long OTHERS_INTERVAL_MS = 500;

  private final RuntimeLifecycle lifecycle;
  private final DirectoryClient directory;
  private final String executorId;
  private final long createdNs = System.nanoTime();

  RequiredMode(RuntimeLifecycle lifecycle, DirectoryClient directory, String executorId) {
    this.lifecycle = lifecycle;
    this.directory = directory;
    this.executorId = executorId;
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
    if (now == State.UP) {
      return;
    }
    String message = ShuffleSetting.MODE.key() + "=required and RDMA is not up: " + reason(now);
    boolean off = now == State.OFF || now == State.RESTARTING;
    if (off && awaitExclusion()) {
      throw new TaskKilledException(message);
    }
    throw new IllegalStateException(message);
  }

  private String reason(State now) {
    return switch (now) {
      case STARTING -> "still starting";
      case STOPPED -> "the executor is stopping";
      default -> String.join("; ", lifecycle.reasons());
    };
  }

  /** Retries for a while: at the start of an application other executors may still be missing. */
  private boolean awaitExclusion() {
    try {
      while (!directory.exclude(executorId).get()) {
        if (System.nanoTime() - createdNs > OTHERS_LIMIT.toNanos()) {
          return false;
        }
        TimeUnit.MILLISECONDS.sleep(OTHERS_INTERVAL_MS);
      }
      return true;
    } catch (ExecutionException e) {
      LOG.info("Cannot ask the driver to exclude this executor; its task fails", e);
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
