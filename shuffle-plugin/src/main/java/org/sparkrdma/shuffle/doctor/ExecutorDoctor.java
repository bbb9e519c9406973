// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.doctor;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.runtime.RdmaRuntime;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ThreadEnd;

/**
 * Runs the checks of an executor once, in a thread of its own that no task waits for. Checks that
 * take too long are abandoned, and that is reported instead of their findings. Owned by the shuffle
 * manager, which closes it. Safe for any thread.
 */
public final class ExecutorDoctor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorDoctor.class);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(10);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);

  private final Checks checks;
  private final Consumer<ExecutorFindings> driver;
  private final Duration timeLimit;
  private final CompletableFuture<ExecutorFindings> findings = new CompletableFuture<>();
  private final Thread thread;

  /** The checks, or a double in tests. */
  interface Checks {
    /** Has no time limit of its own; ends early when interrupted. */
    ExecutorFindings run() throws Exception;

    /** The report when {@link #run} gives none. Any thread. */
    ExecutorFindings failed(String reason);
  }

  /** A doctor that is not started, of an executor whose runtime has been started. */
  public static ExecutorDoctor of(SparkEnv env, ShuffleSettings settings, RdmaRuntime runtime) {
    return new ExecutorDoctor(new ExecutorCheck(env, settings, runtime), runtime::send, TIME_LIMIT);
  }

  /**
   * @param driver receives the findings once, unless this is closed before; returns at once
   */
  ExecutorDoctor(Checks checks, Consumer<ExecutorFindings> driver, Duration timeLimit) {
    this.checks = checks;
    this.driver = driver;
    this.timeLimit = timeLimit;
    this.thread = new Thread(this::run, "rdma-doctor");
    thread.setDaemon(true);
  }

  /** Starts the checks; called once. Never throws. */
  public void start() {
    try {
      // The time limit may start a thread too.
      var unused =
          findings
              .completeOnTimeout(null, timeLimit.toNanos(), TimeUnit.NANOSECONDS)
              .thenAccept(this::report);
      thread.start();
    } catch (Throwable e) {
      // "unable to create native thread" is an Error: the executor works without.
      LOG.debug("The machine of this executor is not checked", e);
      findings.complete(checks.failed(e.toString()));
    }
  }

  private void run() {
    try {
      findings.complete(checks.run());
    } catch (InterruptedException e) {
      LOG.debug("Interrupted: the machine of this executor is not checked", e);
    } catch (Throwable e) {
      // An Error too: a check reads files and calls libraries of an unknown machine.
      LOG.debug("A check failed", e);
      findings.complete(checks.failed(e.toString()));
    }
  }

  /**
   * @param found null after the time limit
   */
  private void report(ExecutorFindings found) {
    if (found == null) {
      thread.interrupt();
    }
    driver.accept(
        found == null
            ? checks.failed("they did not end within " + timeLimit.toSeconds() + " s")
            : found);
  }

  /** Abandons checks that are running; a second close does nothing. */
  @Override
  public void close() {
    findings.cancel(false);
    thread.interrupt();
    if (!ThreadEnd.await(thread, CLOSE_LIMIT)) {
      LOG.debug("A check of this executor's machine does not end");
    }
  }
}
