// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.sparkrdma.benchmarks.tera.GeneratedInput;
import org.sparkrdma.cluster.ClusterException;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.ProgressLog;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command behind the {@code quickstart} script: generates records, sorts them once under each
 * shuffle, and compares the runs. What each option means stands in the script's help.
 */
@Command(name = "quickstart")
public final class Quickstart implements Callable<Integer> {
  @Mixin private ClusterOptions options;

  @Option(names = "--size", defaultValue = "1g", converter = DataSize.Converter.class)
  private DataSize size;

  @Option(names = "--modes", split = ",", defaultValue = "vanilla,rdma,fallback")
  private List<ShuffleMode> modes;

  @Option(names = "--kill-executor")
  private boolean killExecutor;

  @Option(names = "--port", defaultValue = "0")
  private int port;

  @Option(names = "--ui-port", defaultValue = "0")
  private int uiPort;

  private Quickstart() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ClusterCommand.commandLine("quickstart", new Quickstart());
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    options.check();
    if (options.checkOnly()) {
      return 0;
    }
    ProgressLog progress = options.progress();
    Installation installation = options.installation();
    return options
        .command("quickstart", installation, progress)
        .run(
            DiskNeed.of(size, modes.size(), options.keep()),
            settings -> settings.withPorts(port, uiPort),
            (cluster, directory) ->
                runAll(
                    new TeraRuns(cluster, installation, directory, size, progress, killExecutor),
                    progress));
  }

  private void runAll(TeraRuns runs, ProgressLog progress)
      throws LaunchException, ClusterException, IOException, InterruptedException {
    GeneratedInput input = runs.generate();
    progress.say("input: %,d records, checksum %s".formatted(input.records(), input.checksum()));
    List<RunReport> done = new ArrayList<>();
    for (ShuffleMode mode : modes) {
      done.add(RunReport.of(mode, runs.sort(mode), killExecutor));
      if (!options.keep()) {
        runs.deleteOutput(mode);
      }
    }
    Report report = new Report(done);
    options.publish(SummaryTable.of(report), report, report.disagreement(input));
    System.out.println("Every run sorted the input: records and checksums are equal.");
  }
}
