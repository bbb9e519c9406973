// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.RunDirectory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command behind {@code ./bench JOB}: runs the job on a cluster on this machine, by RDMA READ
 * on the loopback engine. What each option means stands in the script's help.
 */
@Command(name = "job")
public final class JobCommand implements Callable<Integer> {
  /** On one host, whatever devices it has. */
  private static final Map<String, String> CONF = Map.of("spark.shuffle.rdma.engine", "soft");

  /** Logs and copies of jars. */
  private static final long OTHER_BYTES = 300L << 20;

  @Mixin private ClusterOptions options;
  @Mixin private JobOptions job;

  @Spec private CommandSpec spec;

  private final String command;

  private JobCommand(String command) {
    this.command = command;
  }

  public static void main(String[] arguments) {
    System.exit(commandLine(arguments).execute(arguments));
  }

  static CommandLine commandLine(String... arguments) {
    return ClusterCommand.commandLine("bench", new JobCommand(userCommand(arguments)));
  }

  /** As the user gave it: {@code launch.bash} puts its own options before the job. */
  private static String userCommand(String... arguments) {
    return Arrays.stream(arguments)
        .dropWhile(argument -> ShuffleJob.named(argument).isEmpty())
        .collect(Collectors.joining(" ", "./bench ", ""));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    // Each cluster has a directory of its own; LaunchedBenchmark gets it when it exists.
    BenchmarkPlan plan = job.plan("", command);
    Optional<BenchmarkFiles> files = options.reportFile().map(BenchmarkFiles::new);
    Optional<String> objection = files.flatMap(BenchmarkFiles::objection);
    if (objection.isPresent()) {
      throw new ParameterException(spec.commandLine(), objection.get());
    }
    options.check();
    if (options.checkOnly()) {
      return 0;
    }
    ProgressLog progress = options.progress();
    Installation installation = options.installation();
    return options
        .command("bench", installation, progress)
        .run(
            new DataSize(diskBytes(plan) + OTHER_BYTES),
            settings -> settings,
            (cluster, directory) -> run(plan, cluster, directory, installation, progress));
  }

  /** Shuffle files of warm-ups are still there in the measured run. */
  private static long diskBytes(BenchmarkPlan plan) {
    return plan.shapes().stream()
            .mapToLong(shape -> plan.job().workload(shape).diskBytes())
            .max()
            .orElseThrow()
        * (plan.warmUps() + 1);
  }

  private void run(
      BenchmarkPlan plan,
      StandaloneCluster cluster,
      RunDirectory directory,
      Installation installation,
      ProgressLog progress)
      throws LaunchException, ClusterException, IOException, InterruptedException {
    BenchmarkReport report =
        new MeasuringRuns(cluster, installation, directory, progress)
            .run(
                plan.job().toString(),
                LaunchedBenchmark.class,
                plan.withData("file:" + directory.data()),
                CONF,
                BenchmarkReport.class);
    Optional<BenchmarkFiles> files = options.reportFile().map(BenchmarkFiles::new);
    options.publish(
        BenchmarkTable.of(report), report, files.flatMap(each -> each.writeBeside(report)));
    System.out.println("All answers are equal.");
    files.ifPresent(each -> System.out.println("The page is " + each.html()));
  }
}
