// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.Installation;
import org.sparkrdma.launch.ProgressLog;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command behind the {@code matrix} script: runs the same jobs on each version of Spark and
 * Java and compares the answers. The script's help describes the options.
 */
@Command(name = "matrix", customSynopsis = "./dev/matrix --help")
public final class MatrixCommand implements Callable<Integer> {
  @Mixin private ClusterOptions options;

  @Option(names = "--cells", split = ",", defaultValue = "all")
  private List<String> cells;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Installation installation = options.installation();
    options.report().setDefault(installation.project().resolve("target/matrix.json"));
    options.report().check();
    try {
      Map<Integer, Path> javaHomes = javaHomes(installation.project());
      return run(Cell.select(cells, javaHomes.keySet()), javaHomes, installation)
          ? CommandLine.ExitCode.OK
          : CommandLine.ExitCode.SOFTWARE;
    } catch (LaunchException e) {
      System.err.println("matrix: " + e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  /** Runs the cells one after the other; false when one of them failed. */
  private boolean run(List<Cell> selection, Map<Integer, Path> javaHomes, Installation installation)
      throws LaunchException, IOException, InterruptedException {
    ProgressLog progress = options.progress();
    Cell.all().stream()
        .filter(cell -> !javaHomes.containsKey(cell.java()))
        .forEach(
            cell -> progress.log("not run, no JDK %d: %s".formatted(cell.java(), cell.name())));
    List<CellResult> results = new ArrayList<>();
    for (Cell cell : selection) {
      progress.log(
          "cell %d of %d: %s".formatted(results.size() + 1, selection.size(), cell.name()));
      results.add(run(cell, javaHomes.get(cell.java()), installation, progress));
    }
    options.publish(CellResult.table(results), Map.of("cells", results));
    return results.stream().allMatch(CellResult::hasPassed);
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
      options.run(
          "matrix",
          settings -> settings.withSpark(sparkHome, javaHome),
          runs -> {
            try {
              result.add(new CellRun(cell, runs).run());
            } catch (LaunchException e) {
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

  /** The homes of the JDKs of this machine that {@link Cell#all} names, as the build finds them. */
  static Map<Integer, Path> javaHomes(Path project)
      throws LaunchException, IOException, InterruptedException {
    Map<Integer, Path> homes = new TreeMap<>();
    for (int version : Cell.all().stream().map(Cell::java).distinct().toList()) {
      String home = findJdk(project, Integer.toString(version));
      if (!home.isEmpty()) {
        homes.put(version, Path.of(home));
      }
    }
    return homes;
  }

  private static String findJdk(Path project, String version)
      throws LaunchException, IOException, InterruptedException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String finder = project.resolve("dev/build/FindJdk.java").toString();
    Process process =
        new ProcessBuilder(java, "-XX:TieredStopAtLevel=1", finder, version, version)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String home = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new LaunchException("cannot look for a JDK " + version + ": " + finder + " failed");
    }
    return home.strip();
  }
}
