// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.sparkrdma.benchmarks.jobs.BenchmarkPlan;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport;
import org.sparkrdma.benchmarks.jobs.BenchmarkTable;
import org.sparkrdma.benchmarks.jobs.JobCommand;
import org.sparkrdma.benchmarks.jobs.ShuffleJob;
import org.sparkrdma.benchmarks.jobs.ShuffleMode;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.ProgressLog;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command behind the {@code quickstart} script: runs one job once under each shuffle and
 * compares. The script's help describes the options.
 */
@Command(name = "quickstart", customSynopsis = "./quickstart --help")
public final class Quickstart implements Callable<Integer> {
  /**
   * So many runs of the job before the measured one let the JVMs compile what matters: half of the
   * CPU time of an executor's first runs is the compiler's (docs/benchmarks.md).
   */
  private static final int DEFAULT_WARM_UPS = 5;

  private static final Map<ShuffleJob, DataSize> DEFAULT_SIZES =
      Map.of(ShuffleJob.GROUPBY, DataSize.parse("256m"), ShuffleJob.TERASORT, DataSize.parse("1g"));

  @Mixin private ClusterOptions options;

  @Option(names = "--job", defaultValue = "groupby")
  private ShuffleJob job;

  @Option(names = "--size")
  private DataSize size;

  @Option(names = "--modes", split = ",", defaultValue = "vanilla,rdma,fallback")
  private List<ShuffleMode> modes;

  @Option(names = "--warm-ups")
  private Integer warmUps;

  @Option(names = "--kill-executor")
  private boolean killExecutor;

  @Override
  public Integer call() throws IOException, InterruptedException {
    BenchmarkPlan plan = plan();
    options.check();
    return options.command("quickstart").run(settings -> settings, runs -> run(plan, runs));
  }

  /** One measured run under each shuffle. */
  BenchmarkPlan plan() {
    if (warmUps != null) {
      options.limits().checkWarmUps(warmUps);
    }
    if (!DEFAULT_SIZES.containsKey(job)) {
      throw options.misuse("--job is '%s': give one of groupby, terasort".formatted(job));
    }
    String shape = job.shapeOf(size == null ? DEFAULT_SIZES.get(job) : size);
    return new BenchmarkPlan(job, List.of(shape), List.copyOf(modes), 1, warmUps(), "");
  }

  /** TeraSort has no warm-up by default, since it takes long. */
  private int warmUps() {
    if (warmUps != null) {
      return warmUps;
    }
    return job == ShuffleJob.GROUPBY && !killExecutor ? DEFAULT_WARM_UPS : 0;
  }

  private void run(BenchmarkPlan plan, MeasuringRuns runs)
      throws LaunchException, IOException, InterruptedException {
    BenchmarkReport report =
        JobCommand.run(plan, runs, new JobCommand.ExecutorSize(1).conf(), onStep(runs));
    options.publish(BenchmarkTable.of(report), report);
    BenchmarkReport.RunResult first = report.cases().get(0).runs().get(0);
    System.out.printf(
        Locale.ROOT,
        "Every run gave the right answer: %,d records with the digest %s.%n",
        first.answer().rows(),
        first.answer().digest());
  }

  private Consumer<ProgressLog.Line> onStep(MeasuringRuns runs) {
    ExecutorKiller killer = new ExecutorKiller(runs.cluster()::executors);
    return step -> {
      if (killExecutor && killer.onStep(step)) {
        runs.progress().log(job + ": killed an executor");
      }
    };
  }

  /**
   * Kills one executor with SIGKILL once in each run, when the first tasks that read the shuffle
   * have ended and others still read. Confined to the thread that reads the application's progress.
   */
  static final class ExecutorKiller {
    /** Runs are reported as "run 1 of 3"; other phases of an application begin with other words. */
    private static final String RUN = "run ";

    private final Supplier<List<ProcessHandle>> executors;
    private String phase = "";
    private boolean over;

    ExecutorKiller(Supplier<List<ProcessHandle>> executors) {
      this.executors = executors;
    }

    /** Returns whether an executor was killed now. */
    boolean onStep(ProgressLog.Line step) {
      if (!step.phase().startsWith(RUN)) {
        return false;
      }
      if (!step.phase().equals(phase)) {
        phase = step.phase();
        over = false;
      }
      if (over || step.done() <= step.total() / 2) {
        return false;
      }
      over = true;
      List<ProcessHandle> running = executors.get();
      return !running.isEmpty() && running.get(0).destroyForcibly();
    }
  }
}
