// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.sparkrdma.benchmarks.jobs.environment.MachineFacts;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;
import org.sparkrdma.benchmarks.transfer.FetchOptions;
import org.sparkrdma.benchmarks.transfer.TransferConf;
import org.sparkrdma.benchmarks.transfer.VerifyMode;
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
 * The command behind {@code ./bench latency}: measures how long one request takes while there is no
 * other, by both clients in turn. The script's help describes the options.
 */
@Command(name = "latency")
public final class LatencyCommand implements Callable<Integer> {
  private static final String ENGINE = "soft";
  private static final DataSize PINNED = new DataSize(256L << 20);
  private static final int MAX_BLOCKS = 100_000;

  /** Spark requests at most a fifth of 48 MiB at once. */
  private static final DataSize MAX_REQUEST = new DataSize(8L << 20);

  private static final long SEED = 20_261_123;

  /** Logs, copies of jars, index and checksum files. */
  private static final long OTHER_BYTES = 300L << 20;

  @Mixin private ClusterOptions options;

  @Mixin private FetchOptions fetches;

  @Option(names = "--blocks", defaultValue = "2000")
  private int blocks;

  @Option(names = "--batch", defaultValue = "1")
  private int batch;

  @Option(names = "--verify", defaultValue = "off")
  private VerifyMode verify;

  @Option(names = "--rounds", defaultValue = "5")
  private int rounds;

  @Option(names = "--warm-ups", defaultValue = "3")
  private int warmUps;

  @Spec private CommandSpec spec;

  private final String command;

  private LatencyCommand(String command) {
    this.command = command;
  }

  public static void main(String[] arguments) {
    System.exit(commandLine(arguments).execute(arguments));
  }

  static CommandLine commandLine(String... arguments) {
    return ClusterCommand.commandLine(
        "bench latency", new LatencyCommand(UserCommand.of("latency", arguments)));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    check();
    if (options.checkOnly()) {
      return 0;
    }
    LatencyPlan plan = new LatencyPlan(fetches.blockBytes(), blocks, batch, warmUps, rounds, SEED);
    MachineFacts facts = MachineFacts.now();
    ProgressLog progress = options.progress();
    Installation installation = options.installation();
    Path recordings = fetches.recordingDirectory();
    Map<String, String> conf = TransferConf.of(ENGINE, verify, PINNED, recordings);
    return options
        .command("bench", installation, progress)
        .run(
            new DataSize(LatencyPlan.MAX_BYTES + OTHER_BYTES),
            settings -> settings,
            (cluster, directory) ->
                measure(
                    new MeasuringRuns(cluster, installation, directory, progress),
                    plan,
                    conf,
                    facts));
  }

  private void check() throws IOException {
    options.check();
    fetches.check();
    NumberLimits limits = new NumberLimits(spec);
    limits.checkRounds(rounds, warmUps);
    limits.check("--blocks", blocks, 1, MAX_BLOCKS);
    limits.check("--batch", batch, 1, blocks);
    int largest = Collections.max(fetches.blockBytes());
    if (batch > 1 && (long) batch * largest > MAX_REQUEST.bytes()) {
      throw misuse(
          "--batch is '%d': give a number whose blocks of %s have at most %s together"
              .formatted(batch, new DataSize(largest), MAX_REQUEST));
    }
  }

  private ParameterException misuse(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }

  private void measure(
      MeasuringRuns runs, LatencyPlan plan, Map<String, String> conf, MachineFacts facts)
      throws LaunchException, ClusterException, IOException, InterruptedException {
    LatencyResult result =
        runs.run("latency", LatencyApplication.class, plan, conf, LatencyResult.class);
    List<LatencyCase> cases = result.cases();
    options.publish(
        LatencyTable.of(cases),
        new RecordedReport<>(command, facts, new LatencyReport(cases)),
        Optional.empty());
    System.out.println(
        "All bytes of RDMA came by READ on the soft engine, and every byte read was compared.");
  }
}
