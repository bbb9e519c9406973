// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.DirectoryName;
import org.sparkrdma.shuffle.driver.DriverParts;
import org.sparkrdma.shuffle.driver.ExecutorStarts;
import org.sparkrdma.shuffle.executorchecks.ExecutorDoctor;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.Figure;
import org.sparkrdma.shuffle.metrics.RdmaMetricsSource;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.pinned.SparkMemory;
import org.sparkrdma.shuffle.read.RdmaReads;
import org.sparkrdma.shuffle.runtime.RdmaRuntime;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.spark.ExecutorClassPath;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.shuffle.thread.PluginLoader;
import org.sparkrdma.shuffle.thread.ThreadShortageException;

/**
 * The parts of the plug-in in one process of Spark: directory and figures on the driver, runtime
 * and doctor on an executor. Owned by the {@link RdmaShuffleManager}, or with another shuffle
 * manager by the {@link RdmaPlugin}. Safe for any thread.
 */
final class PluginParts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleManager.class);

  /** Maximum wait of a task in mode required until RDMA is up. */
  private static final Duration REQUIRED_WAIT = Duration.ofSeconds(60);

  /** Of a driver, until its shuffle manager is created. */
  static final AtomicReference<PluginParts> OFFERED = new AtomicReference<>();

  private final ShuffleSettings settings;
  private final List<String> warnings = new ArrayList<>();
  private final ShuffleCounters counters = new ShuffleCounters();
  private final SparkConf conf;
  private final MissingLinks missing;
  private final boolean isDriver;
  private final DriverParts driver;

  private RdmaRuntime runtime;
  private ExecutorDoctor doctor;

  /** Reports to the driver where there is no runtime; else null. */
  private volatile ControlThread refusal;

  private boolean closed;

  /**
   * Reads the settings. An executor that throws here would be replaced for ever, so it continues
   * without RDMA.
   *
   * @param entry the class that the user names
   * @param missing looks up what this process uses of Spark
   * @throws IllegalArgumentException on the driver, when a setting is wrong or executors cannot
   *     load the class
   */
  PluginParts(SparkConf conf, boolean isDriver, Class<?> entry, MissingLinks missing) {
    this.conf = conf;
    this.isDriver = isDriver;
    this.missing = missing;
    ShuffleSettings read;
    try {
      read = ShuffleSettings.of(conf);
    } catch (IllegalArgumentException e) {
      if (isDriver) {
        throw e;
      }
      read = ShuffleSettings.defaults();
      warnings.add(e.getMessage());
    }
    settings = read;
    if (!isDriver && !conf.contains(DirectoryName.KEY)) {
      warnings.add("the driver has no directory of executors; its log has the reason");
    }
    warnings.addAll(RdmaPolicy.warnings(RdmaPolicy.isTrueIn(conf), settings));
    driver = new DriverParts(conf, settings, warnings, missing);
    if (isDriver) {
      settings.notes().forEach(LOG::warn);
      guarded(() -> prepare(entry));
    } else if (conf.contains(DirectoryName.KEY)) {
      missing.setEnd(reason -> guarded(() -> PluginLoader.run(() -> reportOff(reason))));
    }
  }

  private void prepare(Class<?> entry) {
    ExecutorClassPath.requireLoadable(conf, entry);
    ExecutorStarts.register(conf);
    // Here, because executors receive the configuration as it is when the first of them starts.
    DirectoryName.choose(conf);
    String memory = conf.get(SparkMemory.MEMORY, SparkMemory.DEFAULT_MEMORY);
    conf.set(SparkMemory.APPLICATION_MEMORY, memory);
    // Executors that start from then on do not ask for it.
    missing.setEnd(reason -> conf.remove(DirectoryName.KEY));
    if (settings.mode() != ShuffleSettings.Mode.OFF) {
      missing.check();
      requireNothingMissing();
    }
  }

  /** The driver learns the reason also from an executor without a runtime. */
  private void reportOff(String reason) {
    SparkEnv env = SparkEnv.get();
    String executorId = env.executorId();
    Map<String, Object> figures =
        Map.of(Figure.STATE.label(), "off", Figure.REASONS.label(), reason);
    ControlThread control = new ControlThread();
    DirectoryClient client = new DirectoryClient(env, settings.lookupTimeout(), control);
    try {
      control.start();
      refusal = control;
      control.execute(
          () -> {
            var unused = client.withdraw(executorId, List.of(reason));
          });
      client.report(executorId, () -> figures, () -> false, () -> false);
    } catch (ThreadShortageException e) {
      LOG.debug("The driver does not learn why RDMA is off", e);
    }
  }

  /**
   * The parts of a driver for its shuffle manager: those that {@link RdmaPlugin} has started, else
   * new ones.
   *
   * @throws IllegalArgumentException as the constructor
   */
  static PluginParts ofDriver(SparkConf conf) {
    PluginParts started = OFFERED.getAndSet(null);
    return started != null && started.conf == conf
        ? started
        : new PluginParts(conf, true, RdmaShuffleManager.class, MissingLinks.onDriver());
  }

  /**
   * Leaves the parts of a driver to its shuffle manager, which is not created yet.
   *
   * @param started null when it is
   */
  static void offer(PluginParts started) {
    OFFERED.set(started);
  }

  /** This process does not use RDMA for that reason; before its start. */
  void refuse(String reason) {
    warnings.add(reason);
  }

  /** Counters of this process. */
  ShuffleCounters counters() {
    return counters;
  }

  ShuffleSettings settings() {
    return settings;
  }

  /**
   * Starts what needs Spark's environment; calls after the first do nothing.
   *
   * @param resolver finds map outputs on an executor
   */
  void begin(Supplier<IndexShuffleBlockResolver> resolver) {
    if (!isDriver) {
      startedRuntime(resolver);
    } else if (!missing.any()) {
      guarded(driver::begin);
    }
  }

  /** Attaches the driver's parts to the context; calls after the first do nothing. */
  void watch(Supplier<SparkContext> context) {
    guarded(() -> driver.watch(context.get()));
  }

  /** The application ends; its executors may still report. */
  void endWatch() {
    driver.endWatch();
  }

  private void guarded(Runnable work) {
    try {
      work.run();
    } catch (LinkageError e) {
      missing.takeOrThrow(e);
      if (isDriver) {
        // Spark would replace an executor that throws for ever; its tasks fail.
        requireNothingMissing();
      }
    }
  }

  /** See {@code LinkEdge}: RDMA ends in this process when a member of Spark is missing. */
  void onMissing(LinkageError error) {
    missing.takeOrThrow(error);
    requireNothingMissing();
  }

  private void requireNothingMissing() {
    if (settings.mode() == ShuffleSettings.Mode.REQUIRED) {
      missing
          .reason()
          .ifPresent(
              reason -> {
                throw new IllegalStateException(
                    ShuffleSetting.MODE.key() + "=required and RDMA is not up: " + reason);
              });
    }
  }

  /** Whether the plug-in's reader is used instead of Spark's. */
  boolean readsBlocks() {
    return settings.mode() != ShuffleSettings.Mode.OFF && !missing.any();
  }

  /**
   * How tasks of this executor read, after a wait in the first seconds of its life until peers can
   * find it; null when the mode is off, and in local mode, where no block is remote.
   *
   * @throws IllegalStateException when RDMA is required and not available; it fails the task
   */
  RdmaReads awaitReads(Supplier<IndexShuffleBlockResolver> resolver) {
    RdmaRuntime rdma = startedRuntime(resolver);
    requireNothingMissing();
    if (rdma == null) {
      return null;
    }
    if (settings.mode() == ShuffleSettings.Mode.REQUIRED) {
      rdma.require(REQUIRED_WAIT);
    }
    return rdma.awaitPublished();
  }

  /** The runtime, if it has been started and not closed; else null. */
  synchronized RdmaRuntime runtime() {
    return runtime;
  }

  /** Starts the runtime at the first call; null as for {@link #awaitReads}, or after the end. */
  RdmaRuntime startedRuntime(Supplier<IndexShuffleBlockResolver> resolver) {
    guarded(() -> startOnce(resolver));
    return runtime();
  }

  private synchronized void startOnce(Supplier<IndexShuffleBlockResolver> resolver) {
    if (runtime == null && !isDriver && !closed && readsBlocks()) {
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
    driver.close();
  }
}
