// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.CaseReport;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.Metric;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;
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
 * memory to pin is scarce, map outputs are many, or an executor is sick. The script's help
 * describes cells and verdicts.
 */
@Command(name = "bench", customSynopsis = "./bench scarce --help")
public final class ScarceCommand implements Callable<Integer> {
  private static final int EXECUTORS = 2;

  /** Executors where one is frozen. */
  private static final int EXECUTORS_WITH_FROZEN = 3;

  private static final int MAX_THREADS = 256;
  private static final int RED = 1;
  private static final int UNCLEAR = 2;

  /** What counts as slower: ratios of equal shuffles differ by as much. */
  private static final double SLOWER = 1.05;

  private static final double FASTER = 0.95;

  /** Fetch wait counts only where it is longer by this part of the tasks' time, too. */
  private static final double PART_OF_TIME = 0.01;

  private static final int ROUNDS = 5;

  private static final int QUICK_ROUNDS = 3;

  /** Rounds that decide where the first ones do not, and how many of them must be slower. */
  private static final int MORE_ROUNDS = 11;

  private static final int MOST_OF_THEM = 10;

  /** The first runs of new executors differ by as much as a verdict, and so does a single one. */
  private static final int WARM_UPS = 2;

  private static final int REPEATS = 3;

  /** More unclear cells than one in so many say nothing about the others. */
  private static final int UNCLEAR_PART = 10;

  private static final List<ShuffleMode> MODES =
      List.of(ShuffleMode.VANILLA, ShuffleMode.CONTROL, ShuffleMode.RDMA);

  @Mixin private ClusterOptions options;

  @Option(names = "--quick")
  private boolean quick;

  /** Null where the user does not say it. */
  @Option(names = "--rounds")
  private Integer rounds;

  @Option(names = "--threads", defaultValue = "4")
  private int threads;

  /** Less than half of what the outputs of an executor with {@link #MANY_OUTPUTS} need. */
  private static final String INDEX_MAX = "10000";

  private static final List<String> MANY_OUTPUTS = List.of("1200x20x4k", "300x1000x2k");

  /** What is sick. */
  enum Sick {
    NOTHING("", ""),
    /** One executor has a peer whose READs hang. */
    READS("READs hang", "executor=1;hang@1+"),
    /** One executor has a peer that cannot be reached. */
    CONNECTS("peer unreachable", "executor=1;hang-connect@1+"),
    /** One of three executors is stopped for a while in each run; the others' tasks count. */
    READER("frozen reader", "");

    private final String label;
    private final String faults;

    Sick(String label, String faults) {
      this.label = label;
      this.faults = faults;
    }
  }

  /** A state: a shape of groupby, what an executor may pin, how it serves, and what is sick. */
  record Cell(String shape, String pinned, String serve, Sick sick) {
    Map<String, String> conf() {
      Map<String, String> conf = new HashMap<>();
      conf.put("spark.shuffle.rdma.pinned.max", pinned);
      conf.put("spark.shuffle.rdma.serve", serve);
      if (MANY_OUTPUTS.contains(shape)) {
        conf.put("spark.shuffle.rdma.index.max", INDEX_MAX);
      }
      conf.put("spark.shuffle.rdma.soft.faults", sick.faults);
      return conf;
    }

    boolean freezes() {
      return sick == Sick.READER;
    }

    int executors() {
      return freezes() ? EXECUTORS_WITH_FROZEN : EXECUTORS;
    }

    /** The largest part of the bytes that may come over TCP; of a frozen reader's after it. */
    double mostByTcp() {
      if (sick == Sick.READS || sick == Sick.CONNECTS) {
        return 1;
      }
      return switch (pinned) {
        case "64m" -> 1;
        case "281m" -> 0.05;
        default -> 0.01;
      };
    }

    /** The time that must not be longer than with Spark alone, in seconds. */
    double seconds(RunResult run) {
      return freezes() ? run.frozen().taskSeconds() : run.seconds();
    }

    double fetchWaitSeconds(RunResult run) {
      return freezes() ? run.frozen().fetchWaitSeconds() : run.fetchWaitSeconds();
    }

    /** The remote bytes that are judged. */
    RunResult.ByPath bytes(RunResult run) {
      return freezes() ? run.frozen().bytesAfter() : run.bytes();
    }

    @Override
    public String toString() {
      return (shape + " " + pinned + " " + serve + " " + sick.label).strip();
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
   * @param cpu of the executors, with what a card would do
   * @param tcp part of the remote bytes that came over TCP
   */
  record Result(
      Cell cell,
      Verdict verdict,
      int rounds,
      Quartiles control,
      Quartiles wall,
      Quartiles fetchWait,
      Quartiles cpu,
      double tcp) {}

  /** What the report file has. */
  record Results(List<Result> cells) {}

  /** All cells; with {@code quick} three on a diagonal. */
  static List<Cell> cells(boolean quick) {
    if (quick) {
      return List.of(
          new Cell("100x100x64k", "64m", "auto", Sick.NOTHING),
          new Cell("64x64x256k", "281m", "auto", Sick.NOTHING),
          new Cell("1200x20x4k", "768m", "auto", Sick.NOTHING));
    }
    List<Cell> cells = new ArrayList<>();
    List<String> shapes = new ArrayList<>(List.of("64x64x256k", "100x100x64k", "100x100x64kx2"));
    shapes.addAll(MANY_OUTPUTS);
    for (String shape : shapes) {
      for (String pinned : List.of("64m", "281m", "768m", "4g")) {
        cells.add(new Cell(shape, pinned, "auto", Sick.NOTHING));
      }
      for (String serve : List.of("window", "copy", "odp")) {
        cells.add(new Cell(shape, "281m", serve, Sick.NOTHING));
      }
    }
    for (Sick sick : List.of(Sick.READS, Sick.CONNECTS, Sick.READER)) {
      cells.add(new Cell("64x64x256k", "281m", "auto", sick));
    }
    return cells;
  }

  @Override
  public Integer call() throws LaunchException, IOException, InterruptedException {
    LaunchOptions.check("--threads", threads, 1, MAX_THREADS);
    LaunchOptions.checkRounds(rounds(), 1);
    List<Result> results = new ArrayList<>();
    int code =
        options.run(
            "bench",
            settings ->
                settings
                    .withWorkers(EXECUTORS_WITH_FROZEN)
                    .withWorkerSize(threads, JobCommand.heapMib(threads)),
            runs -> {
              for (List<Cell> cells : byRounds(cells(quick))) {
                results.addAll(measure(runs, cells));
              }
              options.publish(table(results), new Results(results));
            });
    return code == 0 ? exitCode(results) : code;
  }

  private int rounds() {
    if (rounds != null) {
      return rounds;
    }
    return quick ? QUICK_ROUNDS : ROUNDS;
  }

  /**
   * Cells that share the rounds of Spark's own shuffle, which no setting of the plug-in changes.
   */
  static List<List<Cell>> byRounds(List<Cell> cells) {
    Map<String, List<Cell>> shared = new LinkedHashMap<>();
    for (Cell cell : cells) {
      shared.computeIfAbsent(cell.shape + cell.executors(), key -> new ArrayList<>()).add(cell);
    }
    return List.copyOf(shared.values());
  }

  private List<Result> measure(MeasuringRuns runs, List<Cell> cells)
      throws LaunchException, IOException, InterruptedException {
    List<Result> results = run(runs, cells, rounds(), rounds());
    List<Cell> open = new ArrayList<>();
    results.stream()
        .filter(one -> one.verdict == Verdict.RED || (one.verdict == Verdict.UNCLEAR && !quick))
        .forEach(one -> open.add(one.cell));
    if (!open.isEmpty()) {
      results.removeIf(one -> open.contains(one.cell));
      results.addAll(run(runs, open, MORE_ROUNDS, MOST_OF_THEM));
    }
    return results;
  }

  /**
   * Runs each round of some cells: Spark's own shuffle twice, and the plug-in once for each.
   *
   * @param slow so many rounds must be slower for a cell to be
   */
  private List<Result> run(MeasuringRuns runs, List<Cell> cells, int count, int slow)
      throws LaunchException, IOException, InterruptedException {
    runs.progress().log(count + " rounds of " + cells);
    Map<Turn, List<RunResult>> results = new LinkedHashMap<>();
    Turn vanilla = new Turn(ShuffleMode.VANILLA, cells.get(0));
    Turn control = new Turn(ShuffleMode.CONTROL, cells.get(0));
    List<Turn> turns = new ArrayList<>(List.of(vanilla, control));
    cells.forEach(cell -> turns.add(new Turn(ShuffleMode.RDMA, cell)));
    // The files of the first run are not in the page cache.
    ComputedAnswer.Answer expected = run(runs, vanilla).answer();
    for (int round = 1; round <= count; round++) {
      for (Turn turn : BenchmarkPlan.order(turns, round)) {
        runs.progress().log("round %d of %d: %s %s".formatted(round, count, turn.mode, turn.cell));
        RunResult result = run(runs, turn);
        Optional<String> difference = result.answer().difference(expected);
        if (difference.isPresent()) {
          throw new LaunchException(turn + ": wrong answer: " + difference.get());
        }
        results.computeIfAbsent(turn, key -> new ArrayList<>()).add(result);
      }
    }
    List<Result> judged = new ArrayList<>();
    for (Turn turn : turns.subList(2, turns.size())) {
      List<RunResult> all = new ArrayList<>();
      List.of(vanilla, control, turn).forEach(one -> all.addAll(results.get(one)));
      CaseReport report = CaseReport.of(turn.cell.shape, MODES, all);
      judged.add(result(turn.cell, report, turn.cell.executors() * threads, slow));
    }
    return judged;
  }

  /** An application of a round; Spark's own shuffle does not see the cell's settings. */
  private record Turn(ShuffleMode mode, Cell cell) {}

  private RunResult run(MeasuringRuns runs, Turn turn)
      throws LaunchException, IOException, InterruptedException {
    Cell cell = turn.cell;
    BenchmarkPlan plan =
        new BenchmarkPlan(
            ShuffleJob.GROUPBY,
            List.of(cell.shape),
            List.of(turn.mode),
            1,
            WARM_UPS,
            cell.freezes() ? 1 : REPEATS,
            "",
            cell.freezes(),
            Map.of());
    Map<String, String> conf = JobCommand.executorConf(threads);
    conf.put("spark.cores.max", Integer.toString(cell.executors() * threads));
    conf.putAll(cell.conf());
    return JobCommand.run(plan, runs, conf, step -> {}).cases().get(0).runs().get(0);
  }

  /**
   * Judges the rounds of a cell.
   *
   * @param slots of all executors together
   * @param slow so many rounds must be slower for the cell to be
   */
  static Result result(Cell cell, CaseReport report, int slots, int slow) {
    List<Double> wall = report.ratios(ShuffleMode.RDMA, cell::seconds);
    List<Double> wait = report.ratios(ShuffleMode.RDMA, cell::fetchWaitSeconds);
    Quartiles control = quartiles(report.ratios(ShuffleMode.CONTROL, cell::seconds));
    long slowerWalls = wall.stream().filter(ratio -> ratio > SLOWER).count();
    long read = 0;
    long tcp = 0;
    int longerWaits = 0;
    List<RunResult> vanilla = report.runsOf(ShuffleMode.VANILLA);
    List<RunResult> rdma = report.runsOf(ShuffleMode.RDMA);
    for (int i = 0; i < rdma.size(); i++) {
      read += cell.bytes(rdma.get(i)).read();
      tcp += cell.bytes(rdma.get(i)).tcp();
      double sparks = cell.fetchWaitSeconds(vanilla.get(i));
      double ours = cell.fetchWaitSeconds(rdma.get(i));
      double tasks = cell.seconds(vanilla.get(i)) * (cell.freezes() ? 1 : slots);
      longerWaits += ours - sparks > PART_OF_TIME * tasks && ours > SLOWER * sparks ? 1 : 0;
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
        quartiles(wall),
        wait.isEmpty() ? null : quartiles(wait),
        quartiles(report.ratios(ShuffleMode.RDMA, Metric.CPU::of)),
        byTcp);
  }

  private static Quartiles quartiles(List<Double> ratios) {
    return Quartiles.of(ratios, Double::doubleValue);
  }

  /** One row for each cell. */
  static String table(List<Result> results) {
    TextTable<Result> table =
        new TextTable<Result>()
            .text("shape, pinned.max, serve, sick", one -> one.cell.toString())
            .text("verdict", one -> one.verdict.toString().toLowerCase(Locale.ROOT));
    Function<Quartiles, String> format = value -> value == null ? "-" : value.format();
    return table
        .number("rounds", one -> Integer.toString(one.rounds))
        .number("control wall", one -> format.apply(one.control))
        .number("wall", one -> format.apply(one.wall))
        .number("fetch wait", one -> format.apply(one.fetchWait))
        .number("executor CPU", one -> format.apply(one.cpu))
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
