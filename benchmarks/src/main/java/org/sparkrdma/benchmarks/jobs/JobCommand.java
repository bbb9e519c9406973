// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
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
  private static final int EXECUTORS = 2;
  private static final int MIN_HEAP_MIB = 1_024;
  private static final int HEAP_MIB_PER_THREAD = 256;

  @Mixin private ClusterOptions options;

  @Mixin private BenchmarkPlan.Options job;

  @Mixin private LaunchOptions.FlightRecordings recordings;

  @Option(names = "--threads", defaultValue = "1")
  private int threads;

  @Override
  public Integer call() throws LaunchException, IOException, InterruptedException {
    BenchmarkPlan plan = job.plan();
    ClusterOptions.checkConf(options.conf(), BenchmarkRuns.fixedKeys(plan.modes()));
    LaunchOptions.check("--threads", threads, 1, MAX_THREADS);
    return options.run(
        "bench",
        settings -> settings.withWorkerSize(threads, heapMib(threads)),
        runs -> {
          Map<String, String> conf = executorConf(threads);
          Map<String, String> reported = new HashMap<>(conf);
          reported.putAll(options.conf());
          conf.putAll(recordings.conf());
          BenchmarkReport report = run(plan.withConf(reported), runs, conf, step -> {});
          options.publish(report.table(), report);
          System.out.println("All answers are equal.");
        });
  }

  /** Heap of an executor with this number of task threads, in MiB. */
  static int heapMib(int threads) {
    return Math.max(MIN_HEAP_MIB, threads * HEAP_MIB_PER_THREAD);
  }

  /** Settings of two executors with this number of task threads each. */
  static Map<String, String> executorConf(int threads) {
    Map<String, String> conf = new HashMap<>();
    conf.put("spark.executor.cores", Integer.toString(threads));
    conf.put("spark.executor.memory", heapMib(threads) + "m");
    conf.put("spark.cores.max", Integer.toString(EXECUTORS * threads));
    return conf;
  }

  /**
   * Runs a plan to its end, by RDMA READ on the loopback engine, because all executors are on one
   * host.
   *
   * @param conf with the size of each executor; the cluster's Workers have the same
   * @param onStep is given each step of the application, on a thread of its own
   */
  static BenchmarkReport run(
      BenchmarkPlan plan,
      MeasuringRuns runs,
      Map<String, String> conf,
      Consumer<ProgressLog.Line> onStep)
      throws LaunchException, IOException, InterruptedException {
    String name = plan.job().toString();
    BenchmarkPlan here = plan.withData("file:" + runs.directory().data());
    BenchmarkReport report = runs.run(name, here, conf, BenchmarkReport.class, onStep);
    // Without the directory of the data, which is one of this run alone.
    return new BenchmarkReport(plan, report.environment(), report.cases());
  }
}
