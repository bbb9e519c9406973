// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.sparkrdma.cluster.ClusterSettings;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.ProgressLog;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command behind {@code ./bench JOB}: runs the job on a cluster on this machine, by RDMA READ
 * on the loopback engine. The script's help describes the options.
 */
@Command(name = "bench", customSynopsis = "./bench JOB --help")
public final class JobCommand implements Callable<Integer> {
  private static final int MAX_THREADS = 256;

  @Mixin private ClusterOptions options;
  @Mixin private BenchmarkPlan.Options job;

  @Mixin private LaunchOptions.FlightRecordings recordings;

  @Option(names = "--threads", defaultValue = "1")
  private int threads;

  @Override
  public Integer call() throws IOException, InterruptedException {
    // Each cluster has a directory of its own; run names it when it exists.
    BenchmarkPlan plan = job.plan("");
    options.limits().check("--threads", threads, 1, MAX_THREADS);
    ExecutorSize size = new ExecutorSize(threads);
    options.check();
    return options
        .command("bench")
        .run(
            size::workers,
            runs -> {
              Map<String, String> conf = new HashMap<>(size.conf());
              conf.putAll(recordings.conf());
              BenchmarkReport report = run(plan, runs, conf, step -> {});
              options.publish(BenchmarkTable.of(report), report);
              System.out.println("All answers are equal.");
            });
  }

  /**
   * Runs a plan to its end, by RDMA READ on the loopback engine, because all executors are on one
   * host.
   *
   * @param conf with the size of each executor; the cluster's Workers have the same
   * @param onStep is given each step of the application, on a thread of its own
   */
  public static BenchmarkReport run(
      BenchmarkPlan plan,
      MeasuringRuns runs,
      Map<String, String> conf,
      Consumer<ProgressLog.Line> onStep)
      throws LaunchException, IOException, InterruptedException {
    return runs.run(
            plan.job().toString(),
            plan.withData("file:" + runs.directory().data()),
            conf,
            BenchmarkReport.class,
            onStep)
        .withoutData();
  }

  /**
   * Size of each of the two executors of a cluster of {@code ./bench}.
   *
   * @param threads task threads, at least 1
   */
  public record ExecutorSize(int threads) {
    private static final int EXECUTORS = 2;
    private static final int MIN_HEAP_MIB = 1_024;
    private static final int HEAP_MIB_PER_THREAD = 256;

    private int heapMib() {
      return Math.max(MIN_HEAP_MIB, threads * HEAP_MIB_PER_THREAD);
    }

    /** Workers that hold one such executor each. */
    public ClusterSettings workers(ClusterSettings settings) {
      return settings.withWorkerSize(threads, heapMib());
    }

    /** Settings of the application. */
    public Map<String, String> conf() {
      return Map.of(
          "spark.shuffle.rdma.engine",
          "soft",
          "spark.executor.cores",
          Integer.toString(threads),
          "spark.executor.memory",
          heapMib() + "m",
          "spark.cores.max",
          Integer.toString(EXECUTORS * threads));
    }
  }
}
