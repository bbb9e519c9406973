// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.CaseReport;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.Metric;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.launch.ClusterOptions;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command behind {@code ./bench scarce}: whether a job is slower than with Spark alone where
 * memory to pin is scarce. The script's help describes cells and verdicts.
 */
@Command(name = "bench", customSynopsis = "./bench scarce --help")
public final class ScarceCommand implements Callable<Integer> {
  private static final int EXECUTORS = 2;
  private static final int MAX_THREADS = 256;
  private static final int RED = 1;
  private static final int UNCLEAR = 2;

  /** What counts as slower: ratios of equal shuffles differ by as much. */
  private static final double SLOWER = 1.05;

  private static final double FASTER = 0.95;

  /** Fetch wait counts only where it is longer by this part of the tasks' time, too. */
  private static final double PART_OF_TIME = 0.01;

  /** Rounds that decide where the first ones do not, and how many of them must be slower. */
  private static final int MORE_ROUNDS = 11;

  private static final int MOST_OF_THEM = 10;

  /** More unclear cells than one in so many say nothing about the others. */
  private static final int UNCLEAR_PART = 10;

  private static final List<ShuffleMode> MODES =
      List.of(ShuffleMode.VANILLA, ShuffleMode.CONTROL, ShuffleMode.RDMA);

  @Mixin private ClusterOptions options;

  @Option(names = "--quick")
  private boolean quick;

  @Option(names = "--rounds", defaultValue = "5")
  private int rounds;

  @Option(names = "--threads", defaultValue = "4")
  private int threads;

  /** A state: a shape of groupby, what an executor may pin, and how it serves. */
  record Cell(String shape, String pinned, String serve) {
    Map<String, String> conf() {
      return Map.of("spark.shuffle.rdma.pinned.max", pinned, "spark.shuffle.rdma.serve", serve);
    }

    /** The largest part of the bytes that may come over TCP. */
    double mostByTcp() {
      return switch (pinned) {
        case "64m" -> 1;
        case "281m" -> 0.05;
        default -> 0.01;
      };
    }

    @Override
    public String toString() {
      return shape + " " + pinned + " " + serve;
    }
  }

  /** What a cell's rounds say. */
  enum Verdict {
    GREEN,
    /** It is slower than Spark alone, or uses TCP. */
    RED,
    /** Two equal shuffles differ as much. */
    UNCLEAR
  }

  /**
   * The result of a cell.
   *
   * @param tcp part of the remote bytes that came over TCP
   */
  record Result(
      Cell cell,
      Verdict verdict,
      int rounds,
      Quartiles control,
      Quartiles wall,
      Quartiles fetchWait,
      double tcp) {}

  /** What the report file has. */
  record Results(List<Result> cells) {}

  /** All cells; with {@code quick} three on a diagonal. */
  static List<Cell> cells(boolean quick) {
    if (quick) {
      return List.of(
          new Cell("100x100x64k", "64m", "auto"),
          new Cell("64x64x256k", "281m", "auto"),
          new Cell("1200x20x4k", "768m", "auto"));
    }
    List<Cell> cells = new ArrayList<>();
    for (String shape : List.of("64x64x256k", "100x100x64k", "1200x20x4k", "300x1000x2k")) {
      for (String pinned : List.of("64m", "281m", "768m", "4g")) {
        cells.add(new Cell(shape, pinned, "auto"));
      }
      for (String serve : List.of("window", "copy", "odp")) {
        cells.add(new Cell(shape, "281m", serve));
      }
    }
    return cells;
  }

  @Override
  public Integer call() throws LaunchException, IOException, InterruptedException {
    LaunchOptions.check("--threads", threads, 1, MAX_THREADS);
    LaunchOptions.checkRounds(rounds, 1);
    List<Result> results = new ArrayList<>();
    int code =
        options.run(
            "bench",
            settings -> settings.withWorkerSize(threads, JobCommand.heapMib(threads)),
            runs -> {
              for (Cell cell : cells(quick)) {
                results.add(measure(runs, cell));
              }
              options.publish(table(results), new Results(results));
            });
    return code == 0 ? exitCode(results) : code;
  }

  private Result measure(MeasuringRuns runs, Cell cell)
      throws LaunchException, IOException, InterruptedException {
    Result first = result(cell, run(runs, cell, rounds), slots(), rounds);
    if (first.verdict == Verdict.GREEN) {
      return first;
    }
    return result(cell, run(runs, cell, MORE_ROUNDS), slots(), MOST_OF_THEM);
  }

  private int slots() {
    return EXECUTORS * threads;
  }

  private CaseReport run(MeasuringRuns runs, Cell cell, int count)
      throws LaunchException, IOException, InterruptedException {
    runs.progress().log("cell " + cell + ", " + count + " rounds");
    BenchmarkPlan plan =
        new BenchmarkPlan(ShuffleJob.GROUPBY, List.of(cell.shape), MODES, count, 1, "", false);
    Map<String, String> conf = JobCommand.executorConf(threads);
    conf.putAll(cell.conf());
    return JobCommand.run(plan, runs, conf, step -> {}).cases().get(0);
  }

  /**
   * Judges the rounds of a cell.
   *
   * @param slots of all executors together
   * @param slow so many rounds must be slower for the cell to be
   */
  static Result result(Cell cell, CaseReport report, int slots, int slow) {
    List<Double> wall = report.ratios(ShuffleMode.RDMA, Metric.WALL::of);
    List<Double> wait = report.ratios(ShuffleMode.RDMA, Metric.FETCH_WAIT::of);
    Quartiles control =
        Quartiles.of(report.ratios(ShuffleMode.CONTROL, Metric.WALL::of), Double::doubleValue);
    long slowerWalls = wall.stream().filter(ratio -> ratio > SLOWER).count();
    long read = 0;
    long tcp = 0;
    int longerWaits = 0;
    List<BenchmarkReport.RunResult> vanilla = report.runsOf(ShuffleMode.VANILLA);
    List<BenchmarkReport.RunResult> rdma = report.runsOf(ShuffleMode.RDMA);
    for (int i = 0; i < rdma.size(); i++) {
      read += rdma.get(i).bytes().read();
      tcp += rdma.get(i).bytes().tcp();
      double more = rdma.get(i).fetchWaitSeconds() - vanilla.get(i).fetchWaitSeconds();
      boolean longer = more > PART_OF_TIME * vanilla.get(i).seconds() * slots;
      longerWaits +=
          longer && rdma.get(i).fetchWaitSeconds() > SLOWER * vanilla.get(i).fetchWaitSeconds()
              ? 1
              : 0;
    }
    double byTcp = read + tcp == 0 ? 0 : (double) tcp / (read + tcp);
    Verdict verdict = Verdict.GREEN;
    if (byTcp > cell.mostByTcp() || slowerWalls >= slow || longerWaits >= slow) {
      verdict = Verdict.RED;
    } else if (control.upper() > SLOWER || control.lower() < FASTER) {
      verdict = Verdict.UNCLEAR;
    }
    return new Result(
        cell,
        verdict,
        rdma.size(),
        control,
        Quartiles.of(wall, Double::doubleValue),
        wait.isEmpty() ? null : Quartiles.of(wait, Double::doubleValue),
        byTcp);
  }

  /** One row for each cell. */
  static String table(List<Result> results) {
    TextTable<Result> table =
        new TextTable<Result>()
            .text("shape, pinned.max, serve", one -> one.cell.toString())
            .text("verdict", one -> one.verdict.toString().toLowerCase(Locale.ROOT));
    Function<Quartiles, String> format = value -> value == null ? "-" : value.format();
    return table
        .number("rounds", one -> Integer.toString(one.rounds))
        .number("control wall", one -> format.apply(one.control))
        .number("wall", one -> format.apply(one.wall))
        .number("fetch wait", one -> format.apply(one.fetchWait))
        .number("by TCP", one -> String.format(Locale.ROOT, "%.1f %%", 100 * one.tcp))
        .of(results);
  }

  static int exitCode(List<Result> results) {
    if (results.stream().anyMatch(one -> one.verdict == Verdict.RED)) {
      return RED;
    }
    long unclear = results.stream().filter(one -> one.verdict == Verdict.UNCLEAR).count();
    return unclear * UNCLEAR_PART > results.size() ? UNCLEAR : 0;
  }
}
