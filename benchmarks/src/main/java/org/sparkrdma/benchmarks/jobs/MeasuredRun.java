// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.function.ToDoubleFunction;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.benchmarks.tera.ExecutorUsage;
import org.sparkrdma.benchmarks.tera.ShuffleReadTotals;

/** One measured run in a running application. Used once. */
final class MeasuredRun {
  private static final long LISTENER_TIMEOUT_MS = 60_000;

  private final JavaSparkContext spark;
  private final int slots;
  private final ShuffleReadTotals totals = new ShuffleReadTotals();

  MeasuredRun(JavaSparkContext spark) {
    this.spark = spark;
    slots = spark.defaultParallelism() / spark.sc().conf().getInt("spark.task.cpus", 1);
  }

  /**
   * The result, and the answer that it has the summary of.
   *
   * @param answer with its rows, which the result does not keep
   */
  record Measured(RunResult result, ComputedAnswer answer) {}

  Measured run(Workload workload, String data, ShuffleMode mode, int round, String description)
      throws Exception {
    Map<String, ExecutorUsage> before = usage("read counters");
    if (before.size() < 2) {
      throw new BenchmarkException(
          "%d executor is registered: at least two are needed, else no block is remote"
              .formatted(before.size()));
    }
    spark.sc().addSparkListener(totals);
    spark.sc().setJobDescription(description);
    long startNs = System.nanoTime();
    PendingAnswer pending = workload.run(spark, data);
    double seconds = (System.nanoTime() - startNs) / 1e9;
    awaitListeners();
    spark.sc().removeSparkListener(totals);
    Map<String, ExecutorUsage> after = usage("read counters");

    spark.sc().setJobDescription("compute the answer");
    Map<String, Long> counters = counters(before, after);
    boolean complete = after.keySet().equals(before.keySet()) && totals.failedTasks() == 0;
    PathTotals paths = PathTotals.of(mode, counters, totals, complete);
    ComputedAnswer answer = pending.call();
    RunResult result =
        new RunResult(
            mode,
            round,
            before.size(),
            seconds,
            totals.fetchWaitSeconds(),
            difference(before, after, ExecutorUsage::cpuSeconds),
            difference(before, after, ExecutorUsage::gcSeconds),
            after.values().stream().mapToLong(ExecutorUsage::peakResidentBytes).max().orElse(0),
            paths.bytes(),
            paths.blocks(),
            paths.fallbacks(),
            answer.summary(),
            pending.querySeconds());
    return new Measured(result, answer);
  }

  private Map<String, ExecutorUsage> usage(String description) {
    spark.sc().setJobDescription(description);
    return ExecutorUsage.ofAll(spark, slots);
  }

  /** Listeners get the end of each task some time after the job has ended. */
  private void awaitListeners() throws TimeoutException {
    spark.sc().listenerBus().waitUntilEmpty(LISTENER_TIMEOUT_MS);
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
    after
        .values()
        .forEach(usage -> usage.counters().forEach((name, n) -> sums.merge(name, n, Long::sum)));
    before.forEach(
        (id, usage) -> {
          if (after.containsKey(id)) {
            usage.counters().forEach((name, n) -> sums.merge(name, -n, Long::sum));
          }
        });
    return sums;
  }
}
