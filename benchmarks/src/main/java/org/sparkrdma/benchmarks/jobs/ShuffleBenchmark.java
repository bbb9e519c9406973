// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.concurrent.Callable;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.ProgressLog;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The class to give to {@code spark-submit} on any cluster, in client mode. */
@Command(
    name = "shuffle-benchmark",
    mixinStandardHelpOptions = true,
    description = "Options are those of ./bench JOB --help. docs/benchmarks.md has the command.")
public final class ShuffleBenchmark implements Callable<Integer> {
  @Mixin private BenchmarkPlan.Options job;

  @Option(names = "--data", paramLabel = "URI")
  private String data;

  @Mixin private LaunchOptions.Report report;

  @Spec private CommandSpec spec;

  private ShuffleBenchmark() {}

  public static void main(String[] arguments) {
    int exitCode = commandLine().execute(arguments);
    if (exitCode != 0) {
      System.exit(exitCode);
    }
  }

  static CommandLine commandLine() {
    return ClusterCommand.commandLine(
        ShuffleBenchmark.class.getSimpleName(), "./bench --help", new ShuffleBenchmark());
  }

  @Override
  public Integer call() throws Exception {
    BenchmarkPlan plan = job.plan(data);
    if ("cluster".equals(System.getProperty("spark.submit.deployMode"))) {
      throw new LaunchOptions.Limits(spec)
          .misuse("--deploy-mode is cluster; this class starts several applications: use client");
    }
    report.check();
    ProgressLog log = new ProgressLog();
    BenchmarkReport result = new BenchmarkRuns(plan, line -> log.step("benchmark", line)).run();
    System.out.println();
    System.out.println(BenchmarkTable.of(result));
    report.write(result);
    return 0;
  }
}
