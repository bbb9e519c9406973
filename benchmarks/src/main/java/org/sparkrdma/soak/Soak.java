// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.MisuseException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command behind the {@code soak} script: runs random jobs under random faults and checks that
 * memory, descriptors and threads of the executors do not grow. The script's help describes the
 * options.
 */
@Command(name = "soak", customSynopsis = "./dev/soak --help")
public final class Soak implements Callable<Integer> {
  private static final double MIN_MINUTES = 0.2;

  /** A shorter soak has too few samples after the warm-up. */
  private static final double MIN_MINUTES_TO_JUDGE_GROWTH = 2;

  @Mixin private ClusterOptions options;

  @Option(names = "--minutes", defaultValue = "20")
  private double minutes;

  @Option(names = "--seed", defaultValue = "1")
  private long seed;

  @Option(names = "--jobs", split = ",")
  private List<SoakJob> jobs = List.of(SoakJob.values());

  @Option(names = "--vanilla")
  private boolean vanilla;

  @Option(names = "--dynamic-allocation")
  private boolean dynamicAllocation;

  @Override
  public Integer call() throws LaunchException, IOException, InterruptedException {
    if (!(minutes >= MIN_MINUTES)) {
      throw new MisuseException("--minutes must be at least " + MIN_MINUTES);
    }
    return options.run(
        "soak",
        settings ->
            dynamicAllocation
                ? settings
                    .withWorkers(1)
                    .withWorkerSize(SoakRun.MAX_EXECUTORS, SoakRun.MAX_EXECUTORS << 10)
                : settings.withWorkers(SoakRun.EXECUTORS),
        runs ->
            judge(
                new SoakRun(
                    runs,
                    Duration.ofSeconds(Math.round(60 * minutes)),
                    minutes >= MIN_MINUTES_TO_JUDGE_GROWTH,
                    seed,
                    jobs,
                    vanilla,
                    dynamicAllocation)));
  }

  private void judge(SoakRun run) throws LaunchException, IOException, InterruptedException {
    SoakReport report = run.run();
    options.publish(report.table(), report);
    Optional<String> objection = report.objection();
    if (objection.isPresent()) {
      throw new LaunchException(objection.get());
    }
    System.out.println(
        report.growthJudged()
            ? "Flat, and every answer was right."
            : "Every answer was right; the soak was too short to judge growth.");
  }
}
