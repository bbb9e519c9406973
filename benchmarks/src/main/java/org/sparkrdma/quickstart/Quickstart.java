// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.sparkrdma.benchmarks.jobs.plan.BenchmarkPlan;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleJob;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.benchmarks.jobs.report.BenchmarkReport;
import org.sparkrdma.benchmarks.jobs.report.BenchmarkTable;
import org.sparkrdma.benchmarks.jobs.report.RunResult;
import org.sparkrdma.benchmarks.jobs.run.LaunchedRuns;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.NumberLimits;
import org.sparkrdma.launch.ProgressLine;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.RunDirectory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * The command behind the {@code quickstart} script: runs one job once under each shuffle and
 * compares. The script's help describes the options.
 */
@Command(name = "quickstart")
public final class Quickstart implements Callable<Integer> {
  /**
   * So many runs of the job before the measured one let the JVMs compile what matters: half of the
   * CPU time of an executor's first runs is the compiler's (docs/benchmarks.md).
   */
  private static final int DEFAULT_WARM_UPS = 5;

  private static final Map<ShuffleJob, DataSize> DEFAULT_SIZES =
      Map.of(ShuffleJob.GROUPBY, DataSize.parse("256m"), ShuffleJob.TERASORT, DataSize.parse("1g"));

  @Spec private CommandSpec spec;

  @Mixin private ClusterOptions options;

  @Option(names = "--job", defaultValue = "groupby", converter = JobConverter.class)
  private ShuffleJob job;

  @Option(names = "--size", converter = DataSize.Converter.class)
  private DataSize size;

  @Option(
      names = "--modes",
      split = ",",
      defaultValue = "vanilla,rdma,fallback",
      converter = ShuffleMode.Converter.class)
  private List<ShuffleMode> modes;

  @Option(names = "--warm-ups")
  private Integer warmUps;

  @Option(names = "--kill-executor")
  private boolean killExecutor;

  /** Converts the option that names the job. */
  static final class JobConverter implements ITypeConverter<ShuffleJob> {
    @Override
    public ShuffleJob convert(String name) {
      return DEFAULT_SIZES.keySet().stream()
          .filter(job -> job.toString().equals(name))
          .findFirst()
          .orElseThrow(
              () ->
                  new TypeConversionException(
                      "'%s' is not a job of the quick start: give one of groupby, terasort"
                          .formatted(name)));
    }
  }

  private Quickstart() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ClusterCommand.commandLine("quickstart", new Quickstart());
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    BenchmarkPlan plan = plan();
    options.check();
    if (options.checkOnly()) {
      return 0;
    }
    ProgressLog progress = options.progress();
    Installation installation = options.installation();
    return options
        .command("quickstart", installation, progress)
        .run(
            plan.diskSpace(),
            settings -> settings,
            (cluster, directory) -> run(plan, cluster, directory, installation, progress));
  }

  /** One measured run under each shuffle. */
  BenchmarkPlan plan() {
    if (warmUps != null) {
      new NumberLimits(spec).checkWarmUps(warmUps);
    }
    String shape = job.shapeOf(size == null ? DEFAULT_SIZES.get(job) : size);
    return new BenchmarkPlan(job, List.of(shape), List.copyOf(modes), 1, warmUps(), "", command());
  }

  /** TeraSort has no warm-up by default, since it takes long. */
  private int warmUps() {
    if (warmUps != null) {
      return warmUps;
    }
    return job == ShuffleJob.GROUPBY && !killExecutor ? DEFAULT_WARM_UPS : 0;
  }

  private String command() {
    return "./quickstart --job %s%s%s%s"
        .formatted(
            job,
            size == null ? "" : " --size " + size.toOption(),
            warmUps == null ? "" : " --warm-ups " + warmUps,
            killExecutor ? " --kill-executor" : "");
  }

  private void run(
      BenchmarkPlan plan,
      StandaloneCluster cluster,
      RunDirectory directory,
      Installation installation,
      ProgressLog progress)
      throws LaunchException, ClusterException, IOException, InterruptedException {
    MeasuringRuns runs = new MeasuringRuns(cluster, installation, directory, progress);
    BenchmarkReport report = LaunchedRuns.run(plan, runs, onStep(plan, cluster, progress));
    options.publish(BenchmarkTable.brief(report), report, Optional.empty());
    RunResult first = report.cases().get(0).runs().get(0);
    System.out.println(
        String.format(
            Locale.ROOT,
            "Every run gave the right answer: %,d records with the digest %s.",
            first.answer().rows(),
            first.answer().digest()));
  }

  private Consumer<ProgressLine> onStep(
      BenchmarkPlan plan, StandaloneCluster cluster, ProgressLog progress) {
    if (!killExecutor) {
      return step -> {};
    }
    ExecutorKiller loss = new ExecutorKiller(plan.shuffleTasks(), cluster::executors);
    return step -> {
      if (loss.onStep(step)) {
        progress.log(job + ": killed an executor");
      }
    };
  }
}
