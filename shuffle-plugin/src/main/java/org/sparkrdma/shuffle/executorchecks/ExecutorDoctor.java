// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.executorchecks;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.DeviceChoice;
import org.sparkrdma.shuffle.directory.DirectoryName;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.runtime.RdmaRuntime;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ThreadJoin;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.shuffle.tools.doctor.Doctor;
import org.sparkrdma.shuffle.tools.doctor.Facts;
import org.sparkrdma.shuffle.tools.doctor.Finding;
import org.sparkrdma.shuffle.tools.doctor.Level;
import org.sparkrdma.shuffle.tools.engines.EngineProbe;
import org.sparkrdma.shuffle.tools.engines.Probe;
import org.sparkrdma.shuffle.tools.engines.SparkSettings;

/**
 * Runs the checks of the command {@code doctor} in an executor once, in a thread of its own that no
 * task waits for: those of the machine as they are, that of the device by the executor's own start.
 * Checks that take too long are abandoned, and that is reported instead of their findings. Owned by
 * {@code ExecutorSide}, which closes it. Safe for any thread.
 */
public final class ExecutorDoctor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorDoctor.class);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(10);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);

  /** Leaves time for the checks themselves. */
  private static final Duration START_WAIT = Duration.ofSeconds(6);

  private final Callable<List<String>> checks;
  private final Consumer<List<String>> driver;
  private final Duration timeLimit;
  private final CompletableFuture<List<String>> findings = new CompletableFuture<>();
  private final Thread thread;

  /** A doctor that is not started, of an executor whose runtime has been started. */
  public static ExecutorDoctor of(SparkEnv env, ShuffleSettings settings, RdmaRuntime runtime) {
    AtomicBoolean used = new AtomicBoolean();
    return new ExecutorDoctor(
        () -> check(env, settings, runtime, used),
        lines -> runtime.send(new ExecutorFindings(host(env), used.get(), lines)),
        TIME_LIMIT);
  }

  /**
   * @param checks has no time limit of its own; ends early when interrupted
   * @param driver receives the findings once, unless this is closed before; returns at once
   */
  ExecutorDoctor(Callable<List<String>> checks, Consumer<List<String>> driver, Duration timeLimit) {
    this.checks = checks;
    this.driver = driver;
    this.timeLimit = timeLimit;
    this.thread = new Thread(this::run, "rdma-doctor");
    thread.setDaemon(true);
  }

  /** Starts the checks; called once. */
  public void start() {
    var unused =
        findings
            .completeOnTimeout(null, timeLimit.toNanos(), TimeUnit.NANOSECONDS)
            .thenAccept(this::send);
    try {
      ThreadShortageException.start(thread);
    } catch (ThreadShortageException e) {
      findings.complete(withoutResult(e.getMessage()));
    }
  }

  private void run() {
    try {
      findings.complete(checks.call());
    } catch (InterruptedException e) {
      LOG.debug("Interrupted: the machine of this executor is not checked", e);
    } catch (Exception | LinkageError e) {
      LOG.debug("A check failed", e);
      findings.complete(withoutResult(e.toString()));
    }
  }

  /**
   * @param found null after the time limit
   */
  private void send(List<String> found) {
    if (found == null) {
      thread.interrupt();
    }
    driver.accept(
        found == null
            ? withoutResult("they did not end within " + timeLimit.toSeconds() + " s")
            : found);
  }

  private static List<String> withoutResult(String reason) {
    return List.of(
        line(
            "doctor",
            new Finding(
                Level.WARNING,
                "The checks of this executor gave no result: " + reason + ".",
                "run the command doctor on that host")));
  }

  /** Abandons checks that are running; a second close does nothing. */
  @Override
  public void close() {
    findings.cancel(false);
    thread.interrupt();
    if (!ThreadJoin.await(thread, CLOSE_LIMIT)) {
      LOG.debug("A check of this executor's machine does not end");
    }
  }

  /** Takes about as long as the start of RDMA, and a second for counters. */
  private static List<String> check(
      SparkEnv env, ShuffleSettings settings, RdmaRuntime runtime, AtomicBoolean used)
      throws InterruptedException, UnknownHostException {
    List<String> reasons = runtime.awaitStart(START_WAIT);
    used.set(runtime.mayFetch());
    Map<String, String> values = new TreeMap<>();
    for (var entry : env.conf().getAll()) {
      values.put(entry._1(), entry._2());
    }
    // Set by the driver for its executors; the check of settings is for keys that users set.
    values.remove(DirectoryName.KEY);
    SparkSettings spark = new SparkSettings(values);
    SystemFiles files = new SystemFiles(Path.of("/"));
    Map<String, String> environment = System.getenv();
    Probe probe =
        new EngineProbe(
                settings,
                spark,
                InetAddress.getByName(host(env)),
                files,
                Facts.localDirectories(spark, environment))
            .runInExecutor(DeviceChoice.numberOf(env.executorId()), used.get(), reasons);
    Doctor.Report report =
        Doctor.run(new Facts(files, environment, spark, probe, List.of(), Facts::waitASecond));
    List<String> lines = new ArrayList<>();
    report
        .findings()
        .forEach(
            (check, all) ->
                all.stream()
                    .filter(finding -> finding.level() != Level.OK)
                    .forEach(finding -> lines.add(line(check, finding))));
    return lines;
  }

  private static String line(String check, Finding finding) {
    return String.format(
        Locale.ROOT,
        "%-8s %-17s %s To do: %s",
        finding.level().name().toLowerCase(Locale.ROOT),
        check,
        finding.message(),
        finding.advice());
  }

  private static String host(SparkEnv env) {
    return env.blockManager().blockManagerId().host();
  }
}
