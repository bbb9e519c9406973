// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.soak.jobs.SoakJob;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command behind the {@code soak} script: runs random jobs under random faults and checks that
 * memory, descriptors and threads of the executors do not grow. The script's help describes the
 * options.
 */
@Command(name = "soak")
public final class Soak implements Callable<Integer> {
  private static final double MIN_MINUTES = 0.2;

  /** A shorter soak has too few samples after the warm-up. */
  private static final double MIN_MINUTES_TO_JUDGE_GROWTH = 2;

  /** Disk space for shuffle files that are not yet deleted, logs and copies of jars. */
  private static final DataSize ROOM = new DataSize(4L << 30);

  private static final double MS_PER_MINUTE = Duration.ofMinutes(1).toMillis();

  @Mixin private ClusterOptions options;

  @Option(names = "--minutes", defaultValue = "20")
  private double minutes;

  @Option(names = "--seed", defaultValue = "1")
  private long seed;

  @Option(names = "--jobs", split = ",", defaultValue = "all")
  private List<String> jobs;

  @Option(names = "--vanilla")
  private boolean vanilla;

  @Spec private CommandSpec spec;

  private Soak() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ClusterCommand.commandLine("soak", "./dev/soak --help", new Soak());
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!(minutes >= MIN_MINUTES)) {
      throw new ParameterException(spec.commandLine(), "--minutes must be at least " + MIN_MINUTES);
    }
    List<SoakJob> selected = select();
    options.check();
    if (options.checkOnly()) {
      return 0;
    }
    ProgressLog progress = options.progress();
    Installation installation = options.installation();
    return options
        .command("soak", installation, progress)
        .run(
            ROOM,
            settings -> settings.withWorkers(SoakRun.EXECUTORS),
            (cluster, directory) ->
                judge(
                    new SoakRun(
                        cluster,
                        installation,
                        directory,
                        Duration.ofMillis(Math.round(minutes * MS_PER_MINUTE)),
                        minutes >= MIN_MINUTES_TO_JUDGE_GROWTH,
                        seed,
                        selected,
                        vanilla,
                        progress)));
  }

  private List<SoakJob> select() {
    try {
      return SoakJob.named(jobs);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--jobs: " + e.getMessage(), e);
    }
  }

  private void judge(SoakRun run)
      throws LaunchException, ClusterException, IOException, InterruptedException {
    SoakReport report = run.run();
    options.publish(SoakTable.of(report), report, report.objection());
    System.out.println(
        report.growthJudged()
            ? "Flat, and every answer was right."
            : "Every answer was right; the soak was too short to judge growth.");
  }
}
