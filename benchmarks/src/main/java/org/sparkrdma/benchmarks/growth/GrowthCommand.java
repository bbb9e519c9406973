// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.sparkrdma.benchmarks.jobs.environment.MachineFacts;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;
import org.sparkrdma.benchmarks.jobs.report.BenchmarkFiles;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.NumberLimits;
import org.sparkrdma.launch.ReportOption;
import org.sparkrdma.launch.UserCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command behind {@code ./bench growth}, after the simulation: prints its results and writes
 * the files of {@code --report}. The script's help describes the options.
 */
@Command(name = "growth")
public final class GrowthCommand implements Callable<Integer> {
  private static final int MIN_EXECUTORS = 10;
  private static final int MAX_EXECUTORS = 2_000;

  /** The file that the simulation has written. */
  @Option(names = "--data", hidden = true, required = true)
  private Path data;

  /** The simulation has followed it. */
  @Option(names = "--executors", defaultValue = "2000")
  private int executors;

  @Mixin private ReportOption report;

  @Mixin private LaunchOptions options;

  @Spec private CommandSpec spec;

  private final String command;

  private GrowthCommand(String command) {
    this.command = command;
  }

  public static void main(String[] arguments) {
    System.exit(commandLine(arguments).execute(arguments));
  }

  static CommandLine commandLine(String... arguments) {
    return ClusterCommand.commandLine(
        "bench growth", new GrowthCommand(UserCommand.of("growth", arguments)));
  }

  @Override
  public Integer call() throws IOException, LaunchException {
    report.check(BenchmarkFiles::objection);
    new NumberLimits(spec).check("--executors", executors, MIN_EXECUTORS, MAX_EXECUTORS);
    if (options.checkOnly()) {
      return 0;
    }
    Growth growth = new ObjectMapper().readValue(data.toFile(), Growth.class);
    System.out.println(GrowthTable.of(growth));
    Optional<BenchmarkFiles> files = report.file().map(BenchmarkFiles::new);
    if (files.isPresent()) {
      write(files.get(), new RecordedReport<>(command, MachineFacts.now(), growth));
      System.out.println("The page with plots is " + files.get().html());
    }
    return 0;
  }

  private static void write(BenchmarkFiles files, RecordedReport<Growth> report)
      throws LaunchException {
    Optional<String> failure =
        files
            .writeJson(report)
            .or(() -> files.writeBeside(GrowthCsv.of(report.results()), GrowthPage.of(report)));
    if (failure.isPresent()) {
      throw new LaunchException(failure.get());
    }
  }
}
