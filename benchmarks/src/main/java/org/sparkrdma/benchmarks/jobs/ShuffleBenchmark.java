// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.concurrent.Callable;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.Launcher;
import org.sparkrdma.launch.MisuseException;
import org.sparkrdma.launch.ProgressLog;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The class to give to {@code spark-submit} on any cluster, in client mode. */
@Command(
    name = "shuffle-benchmark",
    mixinStandardHelpOptions = true,
    description = "Options are those of ./bench JOB --help. docs/benchmarks.md has the command.")
public final class ShuffleBenchmark implements Callable<Integer> {
  @Mixin private BenchmarkPlan.Options job;

  @Option(names = "--data", paramLabel = "URI", defaultValue = "")
  private String data;

  @Mixin private LaunchOptions.Report report;

  private ShuffleBenchmark() {}

  public static void main(String[] arguments) {
    String name = ShuffleBenchmark.class.getSimpleName();
    int exitCode =
        Launcher.commandLine(name, "./bench --help", new ShuffleBenchmark()).execute(arguments);
    if (exitCode != 0) {
      System.exit(exitCode);
    }
  }

  @Override
  public Integer call() throws Exception {
    BenchmarkPlan plan = job.plan().withData(data);
    if (plan.job().readsFiles() && data.isEmpty()) {
      throw new MisuseException(
          plan.job() + " needs --data, a directory that every executor can read and write");
    }
    if ("cluster".equals(System.getProperty("spark.submit.deployMode"))
        || Boolean.getBoolean("spark.kubernetes.submitInDriver")) {
      throw new MisuseException(
          "--deploy-mode is cluster; this class starts several applications: use client");
    }
    report.check();
    ProgressLog log = new ProgressLog();
    BenchmarkRuns runs =
        new BenchmarkRuns(plan, line -> log.step("benchmark", line), plan.job()::workload);
    BenchmarkReport result = runs.run();
    System.out.println();
    System.out.println(result.table());
    report.write(result);
    return 0;
  }
}
