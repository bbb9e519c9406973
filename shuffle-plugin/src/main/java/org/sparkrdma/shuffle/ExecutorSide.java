// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.DirectoryName;
import org.sparkrdma.shuffle.executorchecks.ExecutorDoctor;
import org.sparkrdma.shuffle.figures.FigureSender;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.metrics.RdmaMetricsSource;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.read.RdmaReads;
import org.sparkrdma.shuffle.runtime.RdmaRuntime;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.shuffle.thread.PluginLoader;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

/**
 * The plug-in in an executor: its runtime, which the first task starts, and its doctor. Owned by
 * the {@link RdmaShuffleManager}, or with another shuffle manager by the {@link RdmaPlugin}. Safe
 * for any thread.
 */
final class ExecutorSide implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorSide.class);

  /** Maximum wait of a task in mode required until RDMA is up. */
  private static final Duration REQUIRED_WAIT = Duration.ofSeconds(60);

  private final ShuffleSettings settings;
  private final List<String> warnings = new ArrayList<>();
  private final ShuffleCounters counters;
  private final MissingLinks missing;

  private RdmaRuntime runtime;
  private ExecutorDoctor doctor;

  /** Reports to the driver where there is no runtime; else null. */
  private volatile ControlThread refusal;

  private boolean closed;

  /**
   * Reads the settings. An executor that throws here would be replaced for ever, so it continues
   * without RDMA.
   *
   * @param missing looks up what this executor uses of Spark
   */
  ExecutorSide(SparkConf conf, ShuffleCounters counters, MissingLinks missing) {
    this.counters = counters;
    this.missing = missing;
    ShuffleSettings read;
    try {
      read = ShuffleSettings.of(conf);
    } catch (IllegalArgumentException e) {
      read = ShuffleSettings.defaults();
      warnings.add(e.getMessage());
    }
    settings = read;
    if (conf.contains(DirectoryName.KEY)) {
      missing.setEnd(reason -> guarded(() -> PluginLoader.run(() -> reportOff(reason))));
    } else {
      warnings.add("the driver has no directory of executors; its log has the reason");
    }
    warnings.addAll(RdmaPolicy.warnings(RdmaPolicy.isTrueIn(conf), settings));
  }

  /** The driver learns the reason also from an executor without a runtime. */
  private void reportOff(String reason) {
    SparkEnv env = SparkEnv.get();
    String executorId = env.executorId();
    Map<String, Object> figures =
        Map.of(Figure.STATE.label(), "off", Figure.REASONS.label(), reason);
    ControlThread control = new ControlThread();
    DirectoryClient client =
        new DirectoryClient(env, settings.lookupTimeout(), settings.lookupWait(), control);
    try {
      control.start();
      refusal = control;
      control.execute(
          () -> {
            var unused = client.withdraw(executorId, List.of(reason));
          });
      new FigureSender(values -> client.report(executorId, values), System::nanoTime, control)
          .start(() -> figures, () -> false, () -> false);
    } catch (ThreadShortageException e) {
      LOG.debug("The driver does not learn why RDMA is off", e);
    }
  }

  private void guarded(Runnable work) {
    try {
      work.run();
    } catch (LinkageError e) {
      // Spark would replace an executor that throws for ever; its tasks fail.
      missing.takeOrThrow(e);
    }
  }

  /** This executor does not use RDMA for that reason; before its start. */
  void refuse(String reason) {
    warnings.add(reason);
  }

  ShuffleSettings settings() {
    return settings;
  }

  /**
   * How tasks of this executor read, after a wait in the first seconds of its life until peers can
   * find it; null when the mode is off.
   *
   * @throws IllegalStateException when RDMA is required and not available; it fails the task
   */
  RdmaReads awaitReads(Supplier<IndexShuffleBlockResolver> resolver) {
    RdmaRuntime rdma = startedRuntime(resolver);
    RdmaPolicy.requireUp(settings, missing.reason());
    if (rdma == null) {
      return null;
    }
    if (settings.mode() == ShuffleSettings.Mode.REQUIRED) {
      rdma.require(REQUIRED_WAIT);
    }
    return rdma.awaitPublished();
  }

  /** The runtime, if it has been started and not closed; else null. */
  private synchronized RdmaRuntime runtime() {
    return runtime;
  }

  /** Deregisters the files of a shuffle that Spark has removed. Returns at once. */
  void unregisterShuffle(int shuffleId) {
    RdmaRuntime rdma = runtime();
    if (rdma != null) {
      rdma.unregisterShuffle(shuffleId);
    }
  }

  /** Starts the runtime at the first call; null as for {@link #awaitReads}, or after the end. */
  RdmaRuntime startedRuntime(Supplier<IndexShuffleBlockResolver> resolver) {
    guarded(() -> startOnce(resolver));
    return runtime();
  }

  private synchronized void startOnce(Supplier<IndexShuffleBlockResolver> resolver) {
    boolean isUsed = settings.mode() != ShuffleSettings.Mode.OFF && !missing.any();
    if (runtime == null && !closed && isUsed) {
      // A task may call this.
      PluginLoader.run(() -> start(SparkEnv.get(), resolver.get()));
    }
  }

  private void start(SparkEnv env, IndexShuffleBlockResolver resolver) {
    RdmaRuntime created = RdmaRuntime.of(env, resolver, settings, counters, warnings, missing);
    runtime = created;
    created.start();
    env.metricsSystem().registerSource(new RdmaMetricsSource(counters, created::pinned));
    if (settings.doctor()) {
      doctor = ExecutorDoctor.of(env, settings, runtime);
      doctor.start();
    }
  }

  /** Closes what is open; a second close does nothing. */
  @Override
  public void close() {
    RdmaRuntime rdma;
    ExecutorDoctor checks;
    synchronized (this) {
      closed = true;
      checks = doctor;
      doctor = null;
      rdma = runtime;
      runtime = null;
    }
    if (rdma != null) {
      rdma.close();
    }
    if (checks != null) {
      checks.close();
    }
    ControlThread refused = refusal;
    if (refused != null) {
      refused.shutdownNow();
    }
  }
}
