// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.sparkrdma.benchmarks.jobs.plan.BenchmarkPlan;
import org.sparkrdma.benchmarks.jobs.plan.ExecutorSize;
import org.sparkrdma.benchmarks.jobs.plan.JobOptions;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleJob;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.benchmarks.jobs.report.BenchmarkReport;
import org.sparkrdma.benchmarks.jobs.report.BenchmarkTable;
import org.sparkrdma.benchmarks.jobs.run.LaunchedRuns;
import org.sparkrdma.cluster.ClusterSettings;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.NumberLimits;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.UserCommand;
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

  private final String command;

  private JobCommand(String command) {
    this.command = command;
  }

  public static void main(String[] arguments) {
    System.exit(commandLine(arguments).execute(arguments));
  }

  static CommandLine commandLine(String... arguments) {
    String command = userCommand(arguments);
    // The script refuses a command that begins with another word.
    String help = command.replaceFirst("^(\\./bench \\w+).*", "$1 --help");
    return ClusterCommand.commandLine("bench", help, new JobCommand(command));
  }

  /** The user's command; {@code launch.bash} puts options of its own before the job. */
  private static String userCommand(String... arguments) {
    String[] words =
        Arrays.stream(arguments)
            .dropWhile(argument -> ShuffleJob.named(argument).isEmpty())
            .toArray(String[]::new);
    return words.length == 0
        ? "./bench"
        : UserCommand.of(words[0], Arrays.copyOfRange(words, 1, words.length));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    // Each cluster has a directory of its own; LaunchedRuns names it when it exists.
    BenchmarkPlan plan = job.plan("", command);
    new NumberLimits(spec).check("--threads", threads, 1, MAX_THREADS);
    ExecutorSize size = new ExecutorSize(threads);
    options.check();
    if (options.checkOnly()) {
      return 0;
    }
    ProgressLog progress = options.progress();
    Installation installation = options.installation();
    return options
        .command("bench", installation, progress)
        .run(
            plan.diskSpace(),
            settings -> workers(settings, size, plan),
            (cluster, directory) -> {
              MeasuringRuns runs = new MeasuringRuns(cluster, installation, directory, progress);
              BenchmarkReport report = LaunchedRuns.run(plan, runs, size, step -> {});
              options.publish(BenchmarkTable.of(report), report, Optional.empty());
              System.out.println("All answers are equal.");
            });
  }

  private static ClusterSettings workers(
      ClusterSettings settings, ExecutorSize size, BenchmarkPlan plan) {
    ClusterSettings sized = size.workers(settings);
    return plan.modes().contains(ShuffleMode.SERVICE) ? sized.withShuffleService() : sized;
  }
}
