// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.NumberLimits;
import org.sparkrdma.launch.ProgressLog;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command behind {@code ./bench recovery}: kills an executor under both shuffles in turn and
 * compares the recovery times. The script's help describes the options.
 */
@Command(name = "recovery")
public final class RecoveryCommand implements Callable<Integer> {
  private static final long SEED = 20_261_120;
  private static final int MAX_TASKS = 10_000;

  /** Map outputs of all jobs of an application, those of a lost executor written once more. */
  private static final int TIMES_SIZE = 8;

  /** Logs, copies of jars, index and checksum files. */
  private static final long OTHER_BYTES = 300L << 20;

  @Mixin private ClusterOptions options;

  @Option(names = "--size", defaultValue = "256m", converter = DataSize.Converter.class)
  private DataSize size;

  @Option(names = "--maps", defaultValue = "32")
  private int maps;

  @Option(names = "--reducers", defaultValue = "32")
  private int reducers;

  @Option(names = "--kill-after")
  private Integer killAfter;

  @Option(names = "--rounds", defaultValue = "5")
  private int rounds;

  @Option(names = "--warm-ups", defaultValue = "1")
  private int warmUps;

  @Option(names = "--at-most")
  private Double atMost;

  @Spec private CommandSpec spec;

  private RecoveryCommand() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ClusterCommand.commandLine("bench recovery", new RecoveryCommand());
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    RecoveryPlan plan = plan();
    options.check();
    if (options.checkOnly()) {
      return 0;
    }
    ProgressLog progress = options.progress();
    Installation installation = options.installation();
    return options
        .command("bench", installation, progress)
        .run(
            new DataSize(TIMES_SIZE * size.bytes() + OTHER_BYTES),
            settings -> settings,
            (cluster, directory) ->
                measureAll(
                    new RecoveryRuns(
                        new MeasuringRuns(cluster, installation, directory, progress), plan)));
  }

  private RecoveryPlan plan() {
    NumberLimits limits = new NumberLimits(spec);
    limits.checkRounds(rounds, warmUps);
    limits.check("--maps", maps, 2, MAX_TASKS);
    limits.check("--reducers", reducers, 4, MAX_TASKS);
    int after = killAfter == null ? reducers / 4 : killAfter;
    // Reducers remain after the kill.
    limits.check("--kill-after", after, 1, reducers - 2L);
    long blockBytes = size.bytes() / maps / reducers;
    if (blockBytes < 1 || blockBytes > Integer.MAX_VALUE / 2) {
      throw misuse(
          "--size is '%s', which gives blocks of %d bytes: give a size with blocks of 1 byte to 1 GiB"
              .formatted(size, blockBytes));
    }
    return new RecoveryPlan(maps, reducers, Math.toIntExact(blockBytes), after, warmUps, SEED);
  }

  private ParameterException misuse(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }

  private void measureAll(RecoveryRuns runs)
      throws LaunchException, ClusterException, IOException, InterruptedException {
    List<RecoveryReport.Pair> pairs = new ArrayList<>();
    for (int round = 1; round <= rounds; round++) {
      pairs.add(pair(runs, round));
    }
    RecoveryReport report = new RecoveryReport(runs.plan(), pairs);
    options.publish(report.table(), report, objection(report));
  }

  private Optional<String> objection(RecoveryReport report) {
    if (atMost == null || report.ratioOfMedians() <= atMost) {
      return Optional.empty();
    }
    return Optional.of(
        String.format(
            Locale.ROOT,
            "recovery takes %.2f times as long as without the plug-in, more than %.2f",
            report.ratioOfMedians(),
            atMost));
  }

  /** The order of the shuffles alternates between rounds. */
  private static RecoveryReport.Pair pair(RecoveryRuns runs, int round)
      throws LaunchException, ClusterException, IOException, InterruptedException {
    List<ComparedShuffle> order =
        round % 2 == 1
            ? List.of(ComparedShuffle.VANILLA, ComparedShuffle.RDMA)
            : List.of(ComparedShuffle.RDMA, ComparedShuffle.VANILLA);
    Map<ComparedShuffle, RecoveryResult> results = new EnumMap<>(ComparedShuffle.class);
    for (ComparedShuffle shuffle : order) {
      results.put(shuffle, runs.run(shuffle, round));
    }
    RecoveryResult vanilla = results.get(ComparedShuffle.VANILLA);
    RecoveryResult rdma = results.get(ComparedShuffle.RDMA);
    if (vanilla.checksum() != rdma.checksum()) {
      throw new LaunchException("the two shuffles gave different records in round " + round);
    }
    return new RecoveryReport.Pair(vanilla, rdma);
  }
}
