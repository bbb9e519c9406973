// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.sparkrdma.benchmarks.jobs.ComputedAnswer;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.MeasuringRuns;

/** Runs the application of one cell twice on its cluster and compares. Used once, by one thread. */
final class CellRun {
  private static final String SOFT = "soft";
  private static final String PLUGINS = "spark.plugins";
  private static final String PLUGIN = "org.sparkrdma.shuffle.RdmaPlugin";
  private static final Pattern SUMMARY =
      Pattern.compile("Shuffle of this application: readBytes=(\\d+) .*tcpBytes=(\\d+) ");
  private static final long RECORDS = 200_000;
  private static final int PARTITIONS = 8;
  private static final long ORDERS = 100_000;

  private final Cell cell;
  private final MeasuringRuns runs;
  private final long startNs = System.nanoTime();

  CellRun(Cell cell, MeasuringRuns runs) {
    this.cell = cell;
    this.runs = runs;
  }

  CellResult run() throws LaunchException, IOException, InterruptedException {
    MatrixPlan.Result vanilla =
        runApplication("vanilla", true, Map.of("spark.shuffle.manager", "sort"));
    MatrixPlan.Result soft = runApplication(SOFT, false, softConf());
    double seconds = (System.nanoTime() - startNs) / (double) TimeUnit.SECONDS.toNanos(1);
    Optional<String> problem = difference(vanilla, soft);
    Matcher bytes = bytes();
    return CellResult.compared(
        cell,
        Long.parseLong(bytes.group(1)),
        Long.parseLong(bytes.group(2)),
        seconds,
        problem.orElse(null));
  }

  /** Bytes by READ and by TCP in the last line of the driver with the plug-in. */
  private Matcher bytes() throws LaunchException, IOException {
    Path log = runs.cluster().log(SOFT);
    try (Stream<String> lines = Files.lines(log)) {
      return lines
          .map(SUMMARY::matcher)
          .filter(Matcher::find)
          .findFirst()
          .orElseThrow(() -> new LaunchException("the driver has logged no summary", log));
    }
  }

  /** The first ERROR line of the driver with the plug-in. */
  private Optional<String> error() throws IOException {
    try (Stream<String> log = Files.lines(runs.cluster().log(SOFT))) {
      return log.filter(line -> line.contains(" ERROR ")).findFirst();
    }
  }

  private MatrixPlan.Result runApplication(String name, boolean generate, Map<String, String> conf)
      throws LaunchException, IOException, InterruptedException {
    Path data = runs.directory().data();
    MatrixPlan plan =
        new MatrixPlan(
            generate,
            "file:" + data.resolve("input"),
            "file:" + data.resolve(name + "-sorted"),
            answer(name).toString(),
            RECORDS,
            PARTITIONS,
            ORDERS);
    return runs.run(name, plan, conf, MatrixPlan.Result.class, step -> {});
  }

  private Map<String, String> softConf() throws LaunchException, IOException {
    Map<String, String> conf = new HashMap<>();
    // On a busy machine blocks would come by TCP, too.
    conf.put("spark.shuffle.rdma.waits.factor", "100");
    if (cell.spark().byPlugin()) {
      String others = System.getProperty(PLUGINS);
      // The last one, so that it sets the shuffle manager.
      conf.put(PLUGINS, (others == null ? "" : others + ",") + PLUGIN);
    } else {
      conf.put("spark.shuffle.manager", "org.sparkrdma.shuffle.RdmaShuffleManager");
      String plugIn = runs.installation().plugIn().toString();
      conf.put("spark.driver.extraClassPath", plugIn);
      conf.put("spark.executor.extraClassPath", plugIn);
    }
    return conf;
  }

  private Path answer(String name) {
    return runs.directory().data().resolve(name + "-rows.txt");
  }

  /** The first error, in one sentence. */
  private Optional<String> difference(MatrixPlan.Result vanilla, MatrixPlan.Result soft)
      throws IOException {
    if (!soft.sparkVersion().equals(cell.spark().version())) {
      return Optional.of("the cluster ran Spark " + soft.sparkVersion());
    }
    if (Runtime.Version.parse(soft.javaVersion()).feature() != cell.java()) {
      return Optional.of("the cluster ran Java " + soft.javaVersion());
    }
    for (MatrixPlan.Result result : new MatrixPlan.Result[] {vanilla, soft}) {
      if (!result.sorted()
          || result.records() != RECORDS
          || !result.checksum().equals(result.inputChecksum())) {
        return Optional.of("the sorted records are not the input sorted: " + result);
      }
    }
    Optional<String> error = error();
    if (error.isPresent()) {
      return Optional.of("the driver has logged: " + error.get());
    }
    return differenceOfRows(answer("vanilla"), answer(SOFT));
  }

  /** The first row of the query that differs, in one sentence; empty when all rows are equal. */
  static Optional<String> differenceOfRows(Path vanilla, Path soft) throws IOException {
    List<String> expected = Files.readAllLines(vanilla);
    List<String> found = Files.readAllLines(soft);
    if (expected.isEmpty()) {
      return Optional.of("the query has no rows");
    }
    return ComputedAnswer.ofRows(found).difference(ComputedAnswer.ofRows(expected));
  }
}
