// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.DirectoryName;
import org.sparkrdma.shuffle.doctor.ExecutorDoctor;
import org.sparkrdma.shuffle.driver.DriverParts;
import org.sparkrdma.shuffle.driver.ExecutorStarts;
import org.sparkrdma.shuffle.fetch.ReaderBlocks;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.RdmaMetricsSource;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.read.CountedReadMetrics;
import org.sparkrdma.shuffle.read.RdmaShuffleReader;
import org.sparkrdma.shuffle.read.ReadRange;
import org.sparkrdma.shuffle.runtime.RdmaRuntime;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.spark.ExecutorClassPath;
import org.sparkrdma.shuffle.spark.SparkEnvironment;

/**
 * The class for {@code spark.shuffle.manager}: Spark's own sort shuffle with a reader that fetches
 * remote blocks by RDMA READ.
 *
 * <p>Spark still writes, resolves and unregisters map outputs, so every block is also available by
 * TCP at any time. It is a subclass because SQL copies each row for managers that are not. Spark
 * creates and stops it on the driver and on each executor. Safe for any thread.
 */
public class RdmaShuffleManager extends SortShuffleManager {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleManager.class);

  /** Maximum wait of a task in mode required until RDMA is up. */
  private static final Duration REQUIRED_WAIT = Duration.ofSeconds(60);

  private final ShuffleSettings settings;
  private final List<String> warnings = new ArrayList<>();
  private final ShuffleCounters counters = new ShuffleCounters();

  private final boolean isDriver;
  private final DriverParts driver;

  private RdmaRuntime runtime;
  private ExecutorDoctor doctor;
  private boolean stopped;

  /**
   * Called by Spark.
   *
   * @param isDriver whether settings are checked; an executor that throws here would be replaced
   *     for ever, so it continues without RDMA
   * @throws IllegalArgumentException on the driver, when a setting is wrong or executors cannot
   *     load this class
   */
  @SuppressWarnings("this-escape")
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    super(conf);
    this.isDriver = isDriver;
    ShuffleSettings read;
    try {
      read = ShuffleSettings.of(conf);
      if (isDriver) {
        ExecutorClassPath.requireLoadable(conf, RdmaShuffleManager.class);
      }
    } catch (IllegalArgumentException e) {
      if (isDriver) {
        LOG.error(e.getMessage());
        throw e;
      }
      read = ShuffleSettings.defaults();
      warnings.add(e.getMessage());
    }
    settings = read;
    warnings.addAll(RdmaPolicy.warnings(key -> conf.getBoolean(key, false), settings));
    driver = new DriverParts(conf, settings, warnings);
    if (isDriver) {
      // Here, because executors receive the configuration as it is when the first of them starts.
      DirectoryName.choose(conf);
      ExecutorStarts.register(conf);
      settings.notes().forEach(LOG::warn);
    }
    if (SparkEnvironment.isSetFor(conf)) {
      begin();
    }
  }

  /** Starts the parts that need Spark's environment; see {@link SparkEnvironment#isSetFor}. */
  private void begin() {
    if (isDriver) {
      driver.begin();
    } else {
      startedRuntime();
    }
  }

  /** This process's counters by label; see {@link ShuffleCounters#snapshot()}. */
  public Map<String, Long> counters() {
    return counters.snapshot();
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    begin();
    driver.watch(dependency.rdd().context());
    return super.registerShuffle(shuffleId, dependency);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    awaitRuntime();
    return super.getWriter(handle, mapId, context, metrics);
  }

  @Override
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    RdmaRuntime rdma = awaitRuntime();
    if (rdma != null) {
      rdma.beginRead(context);
    }
    boolean local = isDriver && settings.mode() != ShuffleSettings.Mode.OFF;
    if (local || (rdma != null && rdma.mayFetch())) {
      return new RdmaShuffleReader<>(
          SparkEnv.get(),
          local ? SparkEnv.get().blockManager().blockStoreClient() : rdma.client(),
          RdmaShuffleManager.<K, C>dependency(handle),
          new ReadRange(startMapIndex, endMapIndex, startPartition, endPartition),
          context,
          metrics);
    }
    ShuffleReadMetricsReporter counted = metrics;
    if (rdma != null) {
      counters.fellBack(FallbackReason.UNAVAILABLE);
      counted = CountedReadMetrics.of(metrics, context, counters);
    }
    return super.getReader(
        handle, startMapIndex, endMapIndex, startPartition, endPartition, context, counted);
  }

  /**
   * A client for remote blocks: the plug-in's when RDMA is up, else Spark's own. It knows no map
   * indexes, so a failure names none. Blocks are verified when they are opened.
   *
   * @throws IllegalStateException when RDMA is required and not available
   */
  public BlockStoreClient blockStoreClient() {
    RdmaRuntime rdma = awaitRuntime();
    return rdma != null && rdma.mayFetch()
        ? rdma.client().forReader(new ReaderBlocks(TaskContext.get()))
        : SparkEnv.get().blockManager().blockStoreClient();
  }

  @SuppressWarnings("unchecked")
  private static <K, C> ShuffleDependency<K, ?, C> dependency(ShuffleHandle handle) {
    return ((BaseShuffleHandle<K, ?, C>) handle).dependency();
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    RdmaRuntime rdma;
    synchronized (this) {
      rdma = runtime;
    }
    // Spark's part first: a late LOCATE must not register a file that is about to be deleted.
    boolean unregistered = super.unregisterShuffle(shuffleId);
    if (rdma != null) {
      rdma.unregisterShuffle(shuffleId);
    }
    return unregistered;
  }

  @Override
  public void stop() {
    RdmaRuntime rdma;
    ExecutorDoctor checks;
    synchronized (this) {
      stopped = true;
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
    driver.close();
    super.stop();
  }

  /**
   * The runtime of this executor, after a wait in the first seconds of its life until peers can
   * find it; null when the mode is off, and in local mode, where no block is remote.
   *
   * @throws IllegalStateException when RDMA is required and not available; it fails the task
   */
  private RdmaRuntime awaitRuntime() {
    RdmaRuntime rdma = startedRuntime();
    if (rdma != null && settings.mode() == ShuffleSettings.Mode.REQUIRED) {
      rdma.require(REQUIRED_WAIT);
    }
    if (rdma != null) {
      rdma.awaitPublished();
    }
    return rdma;
  }

  /** Starts the runtime at the first call; null as for {@link #awaitRuntime}, or after the end. */
  private synchronized RdmaRuntime startedRuntime() {
    if (runtime == null && !isDriver && !stopped && settings.mode() != ShuffleSettings.Mode.OFF) {
      SparkEnv env = SparkEnv.get();
      RdmaRuntime created =
          RdmaRuntime.of(env, shuffleBlockResolver(), settings, counters, warnings);
      env.metricsSystem().registerSource(new RdmaMetricsSource(counters, created::pinned));
      runtime = created;
      runtime.start();
      if (settings.doctor()) {
        doctor = ExecutorDoctor.of(env, settings, runtime);
        doctor.start();
      }
    }
    return runtime;
  }
}
