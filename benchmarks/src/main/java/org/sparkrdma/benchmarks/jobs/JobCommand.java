// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.Callable;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.NumberLimits;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command behind {@code ./bench JOB}: runs the job on a cluster on this machine, by RDMA READ
 * on the loopback engine. The script's help describes the options.
 */
@Command(name = "job")
public final class JobCommand implements Callable<Integer> {
  private static final int MAX_THREADS = 256;

  @Mixin private ClusterOptions options;
  @Mixin private JobOptions job;

  @Option(names = "--threads", defaultValue = "1")
  private int threads;

  @Spec private CommandSpec spec;

  private JobCommand() {}

  public static void main(String[] arguments) {
    System.exit(commandLine(arguments).execute(arguments));
  }

  /**
   * @param arguments with the job, whose help the messages name
   */
  static CommandLine commandLine(String... arguments) {
    String help =
        Arrays.stream(arguments)
            .filter(argument -> ShuffleJob.named(argument).isPresent())
            .findFirst()
            .map(name -> "./bench " + name + " --help")
            .orElse("./bench --help");
    return ClusterCommand.commandLine("bench", help, new JobCommand());
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    // Each cluster has a directory of its own; LaunchedRuns names it when it exists.
    BenchmarkPlan plan = job.plan("");
    new NumberLimits(spec).check("--threads", threads, 1, MAX_THREADS);
    ExecutorSize size = new ExecutorSize(threads);
    options.check();
    return options
        .command("bench")
        .run(
            size::workers,
            runs -> {
              BenchmarkReport report = LaunchedRuns.run(plan, runs, size, step -> {});
              options.publish(BenchmarkTable.of(report), report);
              System.out.println("All answers are equal.");
            });
  }
}
