// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
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
import org.sparkrdma.shuffle.driver.DriverSide;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.links.LinkPart;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.read.RdmaReads;
import org.sparkrdma.shuffle.read.RdmaReads.Way;
import org.sparkrdma.shuffle.read.RdmaShuffleReader;
import org.sparkrdma.shuffle.settings.RdmaPolicy;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.spark.ShuffleStreams;

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

  /** The driver's side that {@link RdmaPlugin} has started before the manager is created. */
  static final AtomicReference<DriverSide> OFFERED = new AtomicReference<>();

  private final ShuffleCounters counters = new ShuffleCounters();
  private final MissingLinks missing;
  private final ShuffleSettings settings;

  /** Null on an executor. */
  private final DriverSide driver;

  /** Null on the driver, also in local mode, where no block is remote. */
  private final ExecutorSide executor;

  /** Null until the first tasks have waited for the start of RDMA. */
  private volatile RdmaReads reads;

  /**
   * Called by Spark.
   *
   * @param isDriver whether settings are checked
   * @throws IllegalArgumentException on the driver, when a setting is wrong or executors cannot
   *     load this class
   */
  @SuppressWarnings("this-escape")
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    super(conf);
    try {
      if (isDriver) {
        DriverSide started = OFFERED.getAndSet(null);
        driver =
            started != null && started.isOf(conf)
                ? started
                : new DriverSide(conf, RdmaShuffleManager.class, MissingLinks.onDriver());
        executor = null;
        settings = driver.settings();
        missing = driver.missing();
      } else {
        missing = MissingLinks.onExecutor(LinkPart.READER);
        driver = null;
        executor = new ExecutorSide(conf, counters, missing);
        settings = executor.settings();
      }
    } catch (IllegalArgumentException e) {
      LOG.error(e.getMessage());
      throw e;
    }
    // Spark 4 sets its environment before it creates this, Spark 3.5 afterwards. In tests an
    // earlier application of the same JVM may have left its own.
    if (SparkEnv.get() != null && SparkEnv.get().conf().equals(conf)) {
      if (isDriver) {
        driver.begin();
      } else {
        executor.startedRuntime(() -> shuffleBlockResolver());
      }
    }
  }

  /** This process's counters by label; see {@link ShuffleCounters#snapshot()}. */
  public Map<String, Long> counters() {
    return counters.snapshot();
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    // Only the driver registers shuffles.
    driver.begin();
    driver.watch(() -> dependency.rdd().context());
    return super.registerShuffle(shuffleId, dependency);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    awaitReads();
    return super.getWriter(handle, mapId, context, metrics);
  }

  /** Null where there is no runtime. While RDMA is up, nothing else is asked. */
  private RdmaReads awaitReads() {
    if (executor == null) {
      if (missing.any()) {
        // In local mode tasks run here.
        RdmaPolicy.requireUp(settings, missing.reason());
      }
      return null;
    }
    RdmaReads known = reads;
    if (known == null || !known.is(Way.RDMA)) {
      known = executor.awaitReads(() -> shuffleBlockResolver());
      // A task that was killed has not waited to the end.
      reads = Thread.currentThread().isInterrupted() ? null : known;
    }
    return known;
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
    Supplier<ShuffleReader<K, C>> sparks =
        () ->
            super.getReader(
                handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
    RdmaReads rdma = awaitReads();
    try {
      if (rdma == null ? isOff() : !rdma.begin(context)) {
        return sparks.get();
      }
      SparkEnv env = SparkEnv.get();
      ShuffleDependency<K, ?, C> dependency = dependency(handle);
      return new RdmaShuffleReader<>(
          env,
          rdma,
          dependency,
          ShuffleStreams.locate(
              env, dependency, startMapIndex, endMapIndex, startPartition, endPartition, context),
          context,
          metrics,
          this::onMissing,
          sparks);
    } catch (LinkageError e) {
      onMissing(e);
      return sparks.get();
    }
  }

  private boolean isOff() {
    return settings.mode() == ShuffleSettings.Mode.OFF || missing.any();
  }

  /** See {@code LinkEdge}: RDMA ends in this process when a method or field of Spark is missing. */
  private void onMissing(LinkageError error) {
    missing.takeOrThrow(error);
    RdmaPolicy.requireUp(settings, missing.reason());
  }

  /**
   * A client for remote blocks: the plug-in's when RDMA is up, else Spark's own. It knows no map
   * indexes, so a failure names none. Blocks are verified when they are opened, which its caller
   * does as they come: while memory is short it waits for that.
   *
   * @throws IllegalStateException when RDMA is required and not available
   */
  public BlockStoreClient blockStoreClient() {
    RdmaReads rdma = awaitReads();
    return rdma != null && rdma.is(Way.RDMA)
        ? rdma.client(FetchingTask.ofReader(TaskContext.get()))
        : SparkEnv.get().blockManager().blockStoreClient();
  }

  @SuppressWarnings("unchecked")
  private static <K, C> ShuffleDependency<K, ?, C> dependency(ShuffleHandle handle) {
    return ((BaseShuffleHandle<K, ?, C>) handle).dependency();
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    // Spark's part first: a late LOCATE must not register a file that is about to be deleted.
    boolean unregistered = super.unregisterShuffle(shuffleId);
    if (executor != null) {
      executor.unregisterShuffle(shuffleId);
    }
    return unregistered;
  }

  @Override
  public void stop() {
    if (driver != null) {
      driver.close();
    } else {
      executor.close();
    }
    super.stop();
  }
}
