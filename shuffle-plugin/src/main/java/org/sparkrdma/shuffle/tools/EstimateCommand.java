// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.sparkrdma.shuffle.estimate.Estimate;
import org.sparkrdma.shuffle.estimate.Report;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Estimates what RDMA could save in applications that have run, with Spark's own classes. */
@Command(
    name = "estimate",
    description = "Estimates what RDMA could save in applications that have run, by event logs.",
    customSynopsis = EstimateCommand.SUBMIT + " [OPTIONS] [LOG...]",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Version.class,
    footer = {
      "",
      "Exit codes: 0 the estimates are printed, 2 wrong usage or no log, 3 the command failed."
    })
final class EstimateCommand implements Callable<Integer> {
  /** How this command is run. */
  static final String SUBMIT =
      "spark-submit --master local --deploy-mode client spark-rdma-shuffle.jar estimate";

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "LOG",
      description =
          "Event logs, directories of rolling logs (eventlog_v2_...), or directories of logs, on any"
              + " file system of Spark; spark.eventLog.dir without any.")
  private List<String> logs = List.of();

  @Option(names = "--json", description = "Print JSON instead of text.")
  private boolean json;

  @Option(
      names = "--costs",
      paramLabel = "FILE",
      description =
          "A report of ./bench transfer on your own hosts, in place of the published one; repeat it"
              + " for one with --copy.")
  private List<Path> costs = List.of();

  @Option(
      names = "--link",
      paramLabel = "RATE",
      description =
          "What the network of a host carries, in bits per second, such as 25g: no transfer moves"
              + " bytes faster.")
  private String link;

  @Override
  public Integer call() throws IOException {
    PrintWriter errors = spec.commandLine().getErr();
    if (!isInSparkSubmit()) {
      errors.println("Run this command with Spark's classes, in client mode: " + SUBMIT);
      return Commands.WRONG_USAGE;
    }
    try {
      Estimate estimate = new Estimate(System.getProperties(), errors::println, System::nanoTime);
      Report report = estimate.run(logs, costs, link);
      spec.commandLine().getOut().println(json ? Json.of(report) : report.text());
      return report.applications().isEmpty() ? Commands.WRONG_USAGE : Commands.USABLE;
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  /** Whether Spark's classes are here, and this is not the driver of cluster mode. */
  private static boolean isInSparkSubmit() {
    return EstimateCommand.class.getResource("/org/apache/spark/SparkConf.class") != null
        && !System.getProperty("spark.submit.deployMode", "").equals("cluster")
        && !Boolean.getBoolean("spark.kubernetes.submitInDriver");
  }
}
