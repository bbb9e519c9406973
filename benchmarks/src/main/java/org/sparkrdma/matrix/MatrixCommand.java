// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
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
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command behind the {@code matrix} script: runs the same jobs on each version of Spark and
 * Java and compares the answers. The script's help describes the options.
 */
@Command(name = "matrix")
public final class MatrixCommand implements Callable<Integer> {
  private static final DataSize ROOM = new DataSize(1L << 30);

  @Mixin private ClusterOptions options;

  @Option(names = "--cells", split = ",", defaultValue = "all")
  private List<String> cells;

  @Spec private CommandSpec command;

  private MatrixCommand() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return ClusterCommand.commandLine("matrix", "./dev/matrix --help", new MatrixCommand());
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Installation installation = options.installation();
    options.report().setDefault(installation.project().resolve("target/matrix.json"));
    options.check();
    try {
      Map<Integer, Path> javaHomes = JavaHomes.find(installation.project());
      CellSelection selection = select(javaHomes);
      return options.checkOnly() || run(selection, javaHomes, installation)
          ? CommandLine.ExitCode.OK
          : CommandLine.ExitCode.SOFTWARE;
    } catch (LaunchException e) {
      System.err.println("matrix: " + e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  private CellSelection select(Map<Integer, Path> javaHomes) {
    try {
      return CellSelection.of(cells, javaHomes);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }

  /** Runs the cells one after the other; false when one of them failed. */
  private boolean run(
      CellSelection selection, Map<Integer, Path> javaHomes, Installation installation)
      throws LaunchException, IOException, InterruptedException {
    ProgressLog progress = options.progress();
    List<CellResult> results = new ArrayList<>();
    for (Cell cell : selection.toRun()) {
      progress.log(
          "cell %d of %d: %s, Java %d"
              .formatted(results.size() + 1, selection.toRun().size(), cell.spark(), cell.java()));
      results.add(run(cell, javaHomes.get(cell.java()), installation, progress));
    }
    MatrixReport report =
        new MatrixReport(MatrixRun.current(installation.project()), results, selection.notRun());
    options.publish(MatrixTable.of(results), report, Optional.empty());
    return report.allPassed();
  }

  /** Returns a result also for a cell that fails, so that the other cells run. */
  private CellResult run(Cell cell, Path javaHome, Installation installation, ProgressLog progress)
      throws IOException, InterruptedException {
    long startNs = System.nanoTime();
    List<CellResult> result = new ArrayList<>();
    String problem = "the cluster did not start";
    try {
      Path sparkHome =
          new SparkHomes(installation, progress).home(cell.spark().version(), cell.spark().scala());
      options
          .command("matrix", installation, progress)
          .run(
              ROOM,
              settings -> settings.withSpark(sparkHome, javaHome),
              (cluster, directory) -> {
                try {
                  result.add(new CellRun(cell, cluster, installation, directory, progress).run());
                } catch (LaunchException | ClusterException e) {
                  result.add(CellResult.failed(cell, secondsSince(startNs), e.getMessage()));
                  throw e;
                }
              });
    } catch (LaunchException e) {
      System.err.println("matrix: " + e.getMessage());
      problem = e.getMessage();
    }
    return result.isEmpty()
        ? CellResult.failed(cell, secondsSince(startNs), problem)
        : result.get(0);
  }

  private static double secondsSince(long startNs) {
    return (System.nanoTime() - startNs) / (double) TimeUnit.SECONDS.toNanos(1);
  }
}
