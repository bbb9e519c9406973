// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.sparkrdma.benchmarks.jobs.environment.MachineFacts;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.NumberLimits;
import org.sparkrdma.launch.ProgressLog;
import org.sparkrdma.launch.UserCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command behind {@code ./bench transfer}: measures both clients in turn and compares them. The
 * script's help describes the options.
 */
@Command(name = "transfer")
public final class TransferCommand implements Callable<Integer> {
  private static final int TIMES_PINNED = 4;
  private static final int MAX_MAPS = 10_000;
  private static final long SEED = 20_261_120;

  /** Logs, copies of jars, index and checksum files. */
  private static final long OTHER_BYTES = 300L << 20;

  @Mixin private ClusterOptions options;

  @Mixin private FetchOptions fetches;

  @Option(names = "--verify", split = ",", defaultValue = "off,adler32,crc32c")
  private List<VerifyMode> verify;

  @Option(names = "--rounds", defaultValue = "3")
  private int rounds;

  @Option(names = "--warm-ups", defaultValue = "4")
  private int warmUps;

  @Option(names = "--pinned", defaultValue = "256m", converter = DataSize.Converter.class)
  private DataSize pinned;

  @Option(names = "--total", converter = DataSize.Converter.class)
  private DataSize total;

  @Option(names = "--maps", defaultValue = "4")
  private int maps;

  @Spec private CommandSpec spec;

  private final String command;

  private TransferCommand(String command) {
    this.command = command;
  }

  public static void main(String[] arguments) {
    System.exit(commandLine(arguments).execute(arguments));
  }

  static CommandLine commandLine(String... arguments) {
    return ClusterCommand.commandLine(
        "bench transfer", new TransferCommand(UserCommand.of("transfer", arguments)));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    check();
    if (options.checkOnly()) {
      return 0;
    }
    TransferPlan plan =
        new TransferPlan(
            fetches.blockBytes(), warmUps, rounds, totalBytes(), maps, SEED, CpuScope.PROCESS);
    MachineFacts facts = MachineFacts.now();
    ProgressLog progress = options.progress();
    Installation installation = options.installation();
    Path recordings = fetches.recordingDirectory();
    return options
        .command("bench", installation, progress)
        .run(
            new DataSize(largestRoundBytes(plan) + OTHER_BYTES),
            settings -> settings,
            (cluster, directory) ->
                measureAll(
                    new TransferRuns(
                        new MeasuringRuns(cluster, installation, directory, progress),
                        plan,
                        pinned,
                        recordings),
                    facts));
  }

  private void check() throws IOException {
    options.check();
    fetches.check();
    NumberLimits limits = new NumberLimits(spec);
    limits.checkRounds(rounds, warmUps);
    limits.check("--maps", maps, 1, MAX_MAPS);
    if (totalBytes() < TIMES_PINNED * pinned.bytes()) {
      throw misuse(
          "--total is '%s': give at least %d times --pinned, %s, so that windows are evicted"
              .formatted(
                  new DataSize(totalBytes()),
                  TIMES_PINNED,
                  new DataSize(TIMES_PINNED * pinned.bytes())));
    }
  }

  private ParameterException misuse(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }

  private long totalBytes() {
    return total == null ? TIMES_PINNED * pinned.bytes() : total.bytes();
  }

  private static long largestRoundBytes(TransferPlan plan) {
    return plan.layouts().stream().mapToLong(Layout::totalBytes).max().orElseThrow();
  }

  private void measureAll(TransferRuns runs, MachineFacts facts)
      throws LaunchException, ClusterException, IOException, InterruptedException {
    List<CaseReport> cases = new ArrayList<>();
    for (VerifyMode mode : verify) {
      cases.addAll(runs.measure(mode));
    }
    TransferReport report = new TransferReport(cases);
    options.publish(
        TransferTable.of(report), new RecordedReport<>(command, facts, report), Optional.empty());
    System.out.println(
        "All bytes of RDMA came by READ on the soft engine. The comparison found no wrong byte: it covers"
            + " every byte in warm-up rounds and an eighth of them in measured rounds.");
  }
}
