// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.LaunchOptions;
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
   * CPU time of an executor's first runs is the compiler's.
   */
  private static final int DEFAULT_WARM_UPS = 5;

  /** Runs are reported as "run 1 of 3"; other phases of an application begin with other words. */
  private static final String RUN = "run ";

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

  /** The last run in which an executor was killed. Confined to the thread that reads progress. */
  private String killedIn = "";

  @Override
  public Integer call() throws LaunchException, IOException, InterruptedException {
    BenchmarkPlan plan = plan();
    ClusterOptions.checkConf(options.conf(), BenchmarkRuns.fixedKeys(plan.modes()));
    return options.run("quickstart", settings -> settings, runs -> run(plan, runs));
  }

  /** One measured run under each shuffle. */
  BenchmarkPlan plan() {
    LaunchOptions.checkWarmUps(warmUps());
    String defaultSize = job == ShuffleJob.GROUPBY ? "256m" : "1g";
    String shape = job.shapeOf(size == null ? DataSize.parse(defaultSize) : size);
    return new BenchmarkPlan(
        job, List.of(shape), List.copyOf(modes), 1, warmUps(), 1, "", false, Map.of());
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
        JobCommand.run(plan, runs, JobCommand.executorConf(1), step -> onStep(runs, step));
    options.publish(report.table(), report);
    BenchmarkReport.RunResult first = report.cases().get(0).runs().get(0);
    System.out.printf(
        Locale.ROOT,
        "Every run gave the right answer: %,d records with the digest %s.%n",
        first.answer().rows(),
        first.answer().digest());
  }

  /**
   * With {@code --kill-executor}, kills one executor with SIGKILL once in each run, when the first
   * tasks that read the shuffle have ended and others still read.
   */
  private void onStep(MeasuringRuns runs, ProgressLog.Line step) {
    boolean due = step.phase().startsWith(RUN) && step.done() > step.total() / 2;
    if (!killExecutor || !due || step.phase().equals(killedIn)) {
      return;
    }
    killedIn = step.phase();
    List<ProcessHandle> running = runs.cluster().executors();
    if (!running.isEmpty() && running.get(0).destroyForcibly()) {
      runs.progress().log(job + ": killed an executor");
    }
  }
}
