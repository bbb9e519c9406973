// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.VoidFunction;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;
import org.sparkrdma.cluster.LaunchException;

/** One measured run in a running application. Used once. */
final class MeasuredRun {
  private static final long LISTENER_TIMEOUT_MS = 60_000;

  /** Shorter than the time after which Spark gives up an executor without heartbeats. */
  private static final int STOPPED_SECONDS = 20;

  private final JavaSparkContext spark;
  private final boolean freezes;
  private final int slots;
  private final ShuffleReadTotals totals = new ShuffleReadTotals();

  /**
   * @param freezes whether one executor is stopped for a while
   */
  MeasuredRun(JavaSparkContext spark, boolean freezes) {
    this.spark = spark;
    this.freezes = freezes;
    slots = spark.defaultParallelism() / spark.sc().conf().getInt("spark.task.cpus", 1);
  }

  /**
   * @param check is given the answer with its rows, which the result does not keep
   */
  RunResult run(
      Workload workload,
      String data,
      ShuffleMode mode,
      int round,
      String description,
      VoidFunction<ComputedAnswer> check)
      throws Exception {
    Map<String, ExecutorUsage> before = usage("read counters");
    if (before.size() < 2) {
      throw new LaunchException(
          "%d executor is registered: at least two are needed, else no block is remote"
              .formatted(before.size()));
    }
    long pid = freezes ? before.get(FrozenExecutor.ID).pid() : 0;
    FrozenExecutor frozen = new FrozenExecutor(pid, STOPPED_SECONDS);
    spark.sc().addSparkListener(totals);
    if (freezes) {
      spark.sc().addSparkListener(frozen);
    }
    spark.sc().setJobDescription(description);
    long startNs = System.nanoTime();
    Workload.PendingAnswer pending = workload.run(spark, data);
    double seconds = (System.nanoTime() - startNs) / 1e9;
    // Listeners get the end of each task some time after the job has ended.
    spark.sc().listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
    spark.sc().removeSparkListener(totals);
    spark.sc().removeSparkListener(frozen);
    Map<String, ExecutorUsage> after = usage("read counters");

    spark.sc().setJobDescription("compute the answer");
    Map<String, Long> counters = counters(before, after);
    boolean complete = after.keySet().equals(before.keySet()) && totals.failedTasks.sum() == 0;
    PathTotals paths = PathTotals.of(mode, counters, totals, complete);
    ComputedAnswer answer = pending.call();
    check.call(answer);
    RunResult.ByPath recovered = null;
    if (freezes && mode == ShuffleMode.RDMA) {
      frozen.awaitRecovery();
      MeasuredRun again = new MeasuredRun(spark, false);
      recovered = again.run(workload, data, mode, round, description, check).bytes();
    }
    return new RunResult(
        mode,
        round,
        before.size(),
        seconds,
        totals.fetchWaitMs.sum() / 1e3,
        difference(before, after, ExecutorUsage::cpuSeconds),
        difference(before, after, ExecutorUsage::gcSeconds),
        after.values().stream().mapToLong(ExecutorUsage::peakResidentBytes).max().orElse(0),
        paths.bytes(),
        paths.blocks(),
        paths.fallbacks(),
        answer.summary(),
        pending.querySeconds(),
        freezes ? frozen.result(recovered) : null);
  }

  private Map<String, ExecutorUsage> usage(String description) {
    spark.sc().setJobDescription(description);
    return ExecutorUsage.ofAll(spark, slots);
  }

  /** Sum over the executors at the end: without lost ones, and of new ones since their start. */
  private static double difference(
      Map<String, ExecutorUsage> before,
      Map<String, ExecutorUsage> after,
      ToDoubleFunction<ExecutorUsage> value) {
    return after.values().stream()
        .mapToDouble(
            usage -> {
              ExecutorUsage earlier = before.get(usage.executorId());
              return value.applyAsDouble(usage)
                  - (earlier == null ? 0 : value.applyAsDouble(earlier));
            })
        .sum();
  }

  private static Map<String, Long> counters(
      Map<String, ExecutorUsage> before, Map<String, ExecutorUsage> after) {
    Map<String, Long> sums = new TreeMap<>();
    after.forEach(
        (id, usage) -> {
          Map<String, Long> earlier = before.containsKey(id) ? before.get(id).counters() : Map.of();
          usage.counters().forEach((name, n) -> sums.merge(name, n, Long::sum));
          earlier.forEach((name, n) -> sums.merge(name, -n, Long::sum));
        });
    return sums;
  }

  /** Sums of Spark's own shuffle read metrics over all tasks, written by its listener thread. */
  static final class ShuffleReadTotals extends SparkListener {
    /** Bytes and blocks from other executors, and from the executor of the task. */
    private final LongAdder remoteBytes = new LongAdder();

    private final LongAdder localBytes = new LongAdder();
    private final LongAdder remoteBlocks = new LongAdder();
    private final LongAdder localBlocks = new LongAdder();

    /** Time that tasks waited for remote blocks, as on Spark's own pages. */
    private final LongAdder fetchWaitMs = new LongAdder();

    /** Number of tasks that failed; the sums contain their reads. */
    private final LongAdder failedTasks = new LongAdder();

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
      if (end.taskMetrics() != null) {
        add(end.taskMetrics().shuffleReadMetrics());
      }
      if (!end.taskInfo().successful()) {
        failedTasks.increment();
      }
    }

    /** Adds the metrics of one task. */
    void add(ShuffleReadMetrics read) {
      remoteBytes.add(read.remoteBytesRead());
      localBytes.add(read.localBytesRead());
      remoteBlocks.add(read.remoteBlocksFetched());
      localBlocks.add(read.localBlocksFetched());
      fetchWaitMs.add(read.fetchWaitTime());
    }
  }

  /**
   * Bytes and blocks that one run read by RDMA READ, by TCP and locally, from the counters of Spark
   * and of the plug-in.
   *
   * @param fallbacks blocks or reads that used TCP under the plug-in, by reason
   */
  record PathTotals(RunResult.ByPath bytes, RunResult.ByPath blocks, Map<String, Long> fallbacks) {
    private static final String FALLBACK_PREFIX = "fallback.";

    /**
     * At most this part of the bytes that tasks have taken may be left; 0.02 % in all of TPC-DS.
     */
    private static final int MAX_LEFT_PART = 100;

    /**
     * Computes the totals and checks that both counters agree.
     *
     * @param counters counters of the plug-in, summed over executors; empty without the plug-in
     * @param complete whether no executor was lost and no task failed, so that no count is missing
     * @throws LaunchException if the plug-in and Spark count different remote bytes, or if a run
     *     that must show RDMA READ did not use it
     */
    static PathTotals of(
        ShuffleMode mode, Map<String, Long> counters, ShuffleReadTotals spark, boolean complete)
        throws LaunchException {
      Map<String, Long> fallbacks = new TreeMap<>();
      counters.forEach(
          (name, count) -> {
            if (name.startsWith(FALLBACK_PREFIX) && count != 0) {
              fallbacks.put(name.substring(FALLBACK_PREFIX.length()), count);
            }
          });
      long read = counters.getOrDefault("rdma.bytes.read", 0L);
      long tcp = counters.getOrDefault("tcp.bytes.read", 0L);
      if (mode == ShuffleMode.RDMA && read == 0) {
        throw new LaunchException(
            ("no byte was read by RDMA READ with the plug-in: remote bytes=%d, fallbacks=%s; the"
                    + " executors' logs have the reasons")
                .formatted(spark.remoteBytes.sum(), fallbacks));
      }
      // With RDMA switched off the reader is Spark's own, which does not count in the plug-in's
      // counters.
      boolean plugInRead = read + tcp != 0;
      if (complete && plugInRead && !agree(read + tcp, spark.remoteBytes.sum())) {
        throw new LaunchException(
            "the plug-in and Spark count different remote bytes: mode=%s read=%d tcp=%d spark=%d"
                .formatted(mode, read, tcp, spark.remoteBytes.sum()));
      }
      return new PathTotals(
          new RunResult.ByPath(
              read, plugInRead ? tcp : spark.remoteBytes.sum(), spark.localBytes.sum()),
          new RunResult.ByPath(
              counters.getOrDefault("rdma.blocks.read", 0L),
              plugInRead ? counters.getOrDefault("tcp.blocks.read", 0L) : spark.remoteBlocks.sum(),
              spark.localBlocks.sum()),
          fallbacks);
    }

    /**
     * Whether the plug-in has fetched what Spark's tasks have taken. A task that ends early, as
     * with LIMIT, leaves blocks that were fetched for it, which Spark does not count.
     */
    private static boolean agree(long fetchedBytes, long takenBytes) {
      long leftBytes = fetchedBytes - takenBytes;
      return leftBytes >= 0 && leftBytes <= takenBytes / MAX_LEFT_PART;
    }
  }
}
