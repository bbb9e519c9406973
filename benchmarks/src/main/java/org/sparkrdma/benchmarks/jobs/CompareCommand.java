// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.sparkrdma.benchmarks.jobs.report.BenchmarkReport;
import org.sparkrdma.benchmarks.jobs.report.Comparison;
import org.sparkrdma.launch.ClusterCommand;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.TextTable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command behind {@code ./bench compare}: compares two reports. */
@Command(name = "compare")
public final class CompareCommand implements Callable<Integer> {
  /** Number of leading columns with text: shape, ratio, metric. */
  private static final int TEXT_COLUMNS = 3;

  private static final int VERDICT_COLUMN = 6;

  /** Reads reports of newer versions too. */
  private static final ObjectMapper JSON =
      new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

  @Mixin private LaunchOptions options;

  @Parameters(index = "0", paramLabel = "FIRST")
  private Path first;

  @Parameters(index = "1", paramLabel = "SECOND")
  private Path second;

  @Spec private CommandSpec spec;

  private CompareCommand() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  public static CommandLine commandLine() {
    return ClusterCommand.commandLine("bench", "./bench compare --help", new CompareCommand());
  }

  @Override
  public Integer call() {
    Comparison comparison = new Comparison(read(first), read(second));
    comparison.objection().ifPresent(this::refuse);
    if (options.checkOnly()) {
      return 0;
    }
    System.out.println("first:  " + describe(comparison.first()));
    System.out.println("second: " + describe(comparison.second()));
    System.out.println();
    System.out.print(
        TextTable.of(
            comparison.rows(), column -> column < TEXT_COLUMNS || column == VERDICT_COLUMN));
    System.out.println();
    System.out.println(Comparison.RULE);
    List<List<String>> differences = comparison.differences();
    if (differences.size() > 1) {
      System.out.println();
      System.out.print(TextTable.of(differences, column -> true));
    }
    return 0;
  }

  private BenchmarkReport read(Path file) {
    if (!Files.isReadable(file)) {
      throw misuse("no such report, or not readable: " + file);
    }
    try {
      BenchmarkReport report = JSON.readValue(file.toFile(), BenchmarkReport.class);
      if (report != null && report.isComplete()) {
        return report;
      }
    } catch (IOException e) {
      // Another kind of file.
    }
    throw misuse("not a report of ./bench JOB: " + file);
  }

  private static String describe(BenchmarkReport report) {
    String version = report.environment().version();
    return "%s, %d rounds, plug-in %s, Spark %s, load %.1f, %s"
        .formatted(
            report.environment().date(),
            report.plan().rounds(),
            version == null ? "unknown" : version,
            report.environment().spark(),
            report.environment().load(),
            report.plan().command());
  }

  private void refuse(String objection) {
    throw misuse(objection);
  }

  private ParameterException misuse(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }
}
