// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import java.io.File;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.spark.ContextCleaner;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TestUtils$;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.status.api.v1.ExecutorSummary;
import org.apache.spark.util.Utils$;
import org.sparkrdma.shuffle.RdmaShuffleManager;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** Methods that are private to Spark in Scala but public in its class files. Stateless. */
public final class SparkInternals {
  private static final long DRAIN_MS = 60_000;
  private static final long EXECUTORS_MS = 120_000;

  private SparkInternals() {}

  /** The plug-in's counters in this JVM; empty without the plug-in. */
  public static Map<String, Long> counters() {
    ShuffleManager manager = SparkEnv.get().shuffleManager();
    if (manager instanceof RdmaShuffleManager ours) {
      return ours.counters();
    }
    Map<String, Long> counters = new TreeMap<>();
    if (SparkEnv.get().metricsSystem().getSourcesByName("rdma").nonEmpty()) {
      for (Counter counter : Counter.values()) {
        counters.put(counter.label(), gauge(counter.label().replaceFirst("^rdma\\.", "")));
      }
      for (FallbackReason reason : FallbackReason.values()) {
        String name = "fallback." + reason.label();
        counters.put(name, gauge(name));
      }
    }
    return counters;
  }

  /** Name of the class of this JVM's shuffle manager. */
  public static String shuffleManager() {
    return SparkEnv.get().shuffleManager().getClass().getName();
  }

  /** A gauge of the plug-in in this executor. */
  public static long gauge(String name) {
    return (Long)
        SparkEnv.get()
            .metricsSystem()
            .getSourcesByName("rdma")
            .head()
            .metricRegistry()
            .getGauges()
            .get(name)
            .getValue();
  }

  /** Waits until the listeners have received all events. */
  public static void drainListeners(SparkContext context) throws TimeoutException {
    context.listenerBus().waitUntilEmpty(DRAIN_MS);
  }

  /** Waits until that many executors accept tasks. */
  public static void awaitExecutors(SparkContext context, int executors) throws TimeoutException {
    TestUtils$.MODULE$.waitUntilExecutorsUp(context, executors, EXECUTORS_MS);
  }

  /** Ids of the executors known to the scheduler. */
  public static List<String> executorIds(SparkContext context) {
    return CollectionConverters.asJava(context.getExecutorIds());
  }

  /** Host of each executor as Spark's own UI shows it. */
  public static Map<String, String> executorHosts(SparkContext context) {
    return CollectionConverters.asJava(context.statusStore().executorList(true)).stream()
        .filter(executor -> !executor.id().equals("driver"))
        .collect(
            Collectors.toMap(
                ExecutorSummary::id, executor -> executor.hostPort().replaceFirst(":.*", "")));
  }

  /**
   * Decommissions an executor: it migrates its blocks and exits. Another executor may replace it.
   */
  public static void decommission(SparkContext context, String executorId) {
    var backend = (CoarseGrainedSchedulerBackend) context.schedulerBackend();
    if (!backend.decommissionExecutor(
        executorId, new ExecutorDecommissionInfo("test", Option.empty()), false, false)) {
      throw new IllegalStateException("not decommissioned: executorId=" + executorId);
    }
  }

  /** Spark keeps the local directories of the first cluster of a JVM for all later ones. */
  public static void forgetLocalDirectories() {
    Utils$.MODULE$.clearLocalRootDirs();
  }

  /** Spark's local directories of this process. */
  public static List<String> localDirectories() {
    return List.of(SparkEnv.get().blockManager().diskBlockManager().localDirsString());
  }

  /** Names of the block files on this executor's disks. */
  public static List<String> blockFiles() {
    return CollectionConverters.asJava(
            SparkEnv.get().blockManager().diskBlockManager().getAllFiles())
        .stream()
        .map(File::getName)
        .toList();
  }

  /** Removes a shuffle on all executors, as Spark does when nothing refers to it any more. */
  static void removeShuffle(SparkContext context, int shuffleId) {
    ContextCleaner cleaner = context.cleaner().get();
    cleaner.doCleanupShuffle(shuffleId, true);
  }
}
