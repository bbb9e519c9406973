// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
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
import org.sparkrdma.verbs.soft.SoftProvider;
import org.sparkrdma.verbs.spi.EngineSettings;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command behind {@code ./bench ceiling}: measures what the plug-in costs when the device costs
 * nothing. The script's help describes the options.
 */
@Command(name = "ceiling")
public final class CeilingCommand implements Callable<Integer> {
  /** A reader may use a quarter of the pinned memory and has 48 MiB in flight. */
  private static final DataSize PINNED = new DataSize(1L << 30);

  private static final int MAX_PEERS = 64;
  private static final int MAX_SECONDS = 600;
  private static final int SECOND_MS = 1000;
  private static final int MAPS = 4;
  private static final long SEED = 20_261_122;

  /** Logs, copies of jars, index and checksum files. */
  private static final long OTHER_BYTES = 300L << 20;

  @Mixin private ClusterOptions options;

  @Mixin private FetchOptions fetches;

  @Option(names = "--peers", split = ",", defaultValue = "1,8,64")
  private List<Integer> peers;

  @Option(names = "--rounds", defaultValue = "3")
  private int rounds;

  @Option(names = "--warm-ups", defaultValue = "2")
  private int warmUps;

  @Option(names = "--seconds", defaultValue = "1")
  private int seconds;

  @Option(names = "--latency", defaultValue = "10us")
  private String latency;

  @Option(names = "--depth", defaultValue = "16384")
  private int depth;

  @Option(names = "--total", defaultValue = "256m", converter = DataSize.Converter.class)
  private DataSize total;

  @Spec private CommandSpec spec;

  private final String command;

  private CeilingCommand(String command) {
    this.command = command;
  }

  public static void main(String[] arguments) {
    System.exit(commandLine(arguments).execute(arguments));
  }

  static CommandLine commandLine(String... arguments) {
    return ClusterCommand.commandLine(
        "bench ceiling", new CeilingCommand(UserCommand.of("ceiling", arguments)));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    check();
    if (options.checkOnly()) {
      return 0;
    }
    CeilingPlan plan =
        new CeilingPlan(
            fetches.blockBytes(),
            peers.stream().distinct().toList(),
            warmUps,
            rounds,
            seconds * SECOND_MS,
            total.bytes(),
            MAPS,
            SEED);
    MachineFacts facts = MachineFacts.now();
    ProgressLog progress = options.progress();
    Installation installation = options.installation();
    Map<String, String> conf = conf();
    return options
        .command("bench", installation, progress)
        .run(
            new DataSize(total.bytes() + MAPS * FetchOptions.LARGEST_BLOCK.bytes() + OTHER_BYTES),
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
    peers.forEach(count -> limits.check("--peers", count, 1, MAX_PEERS));
    limits.checkRounds(rounds, warmUps);
    limits.check("--seconds", seconds, 1, MAX_SECONDS);
    try {
      new SoftProvider().validate(EngineSettings.of(engineSettings()));
    } catch (IllegalArgumentException e) {
      throw misuse("--latency or --depth: " + e.getMessage());
    }
  }

  private Map<String, String> engineSettings() {
    return Map.of("soft.latency", latency, "soft.depth.max", Integer.toString(depth));
  }

  private Map<String, String> conf() throws IOException {
    Path recordings = fetches.recordingDirectory();
    Map<String, String> conf =
        new HashMap<>(TransferConf.of(NoCopyProvider.NAME, VerifyMode.OFF, PINNED, recordings));
    engineSettings().forEach((key, value) -> conf.put("spark.shuffle.rdma." + key, value));
    conf.putAll(NoCopyProvider.conf());
    return conf;
  }

  private ParameterException misuse(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }

  private void measure(
      MeasuringRuns runs, CeilingPlan plan, Map<String, String> conf, MachineFacts facts)
      throws LaunchException, ClusterException, IOException, InterruptedException {
    CeilingResult result =
        runs.run("ceiling", CeilingApplication.class, plan, conf, CeilingResult.class);
    CeilingReport report = CeilingReport.of(latency, depth, result.cases());
    options.publish(
        CeilingTable.of(report), new RecordedReport<>(command, facts, report), Optional.empty());
    System.out.println(
        "No byte of RDMA's blocks moved: these are costs of the plug-in, not speeds of a network. The"
            + " CPU time of the thread that stands for the device is in no figure but its own.");
  }
}
