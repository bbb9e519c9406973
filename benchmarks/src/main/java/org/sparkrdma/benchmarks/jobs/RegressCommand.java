// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.sparkrdma.benchmarks.jobs.WorktreeBenchmark.Commit;
import org.sparkrdma.benchmarks.transfer.TransferCommand;
import org.sparkrdma.benchmarks.transfer.TransferPlan;
import org.sparkrdma.cluster.LaunchException;
import org.sparkrdma.cluster.LiveProcesses;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.LaunchOptions;
import org.sparkrdma.launch.MisuseException;
import org.sparkrdma.launch.ProgressLog;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command behind {@code ./bench regress}: runs a job or measures transfers of two commits in
 * turn, and exits with 1 when a ratio is worse. The script's help describes the options.
 */
@Command(name = "bench", customSynopsis = "./bench regress --help")
public final class RegressCommand implements Callable<Integer> {
  private static final int MIN_PAIRS = 5;
  private static final int MAX_PAIRS = 1_000;

  /** Measurements that are no job. */
  private static final String TRANSFER = "transfer";

  private static final String LATENCY = "latency";

  /** Rounds of one of these in each run, so that each client is the first one in some of them. */
  private static final int TRANSFER_ROUNDS = 3;

  private static final int TRANSFER_WARM_UPS = 3;

  @Mixin private LaunchOptions options;

  @Parameters(index = "0", paramLabel = "BASE")
  private String base;

  @Parameters(index = "1", arity = "0..1", paramLabel = "HEAD", defaultValue = "HEAD")
  private String head;

  @Option(names = "--job", defaultValue = "groupby")
  private String job;

  @Option(names = "--shapes", split = ",")
  private List<String> shapes = new ArrayList<>();

  @Option(names = "--modes", split = ",", defaultValue = "vanilla,rdma")
  private List<ShuffleMode> modes;

  @Option(names = "--sizes", split = ",", defaultValue = "4k,1m")
  private List<DataSize> sizes;

  @Option(names = "--batch", defaultValue = "1")
  private int batch;

  @Option(names = "--verify", defaultValue = "off")
  private TransferPlan.Verify verify;

  @Option(names = "--pairs", defaultValue = "9")
  private int pairs;

  @Option(names = "--warm-ups")
  private Integer warmUps;

  @Mixin private LaunchOptions.Report report;

  @Override
  public Integer call() throws IOException, InterruptedException, LaunchException {
    Path project = options.installation().project();
    Commit baseCommit = WorktreeBenchmark.commit(project, base);
    Commit headCommit = WorktreeBenchmark.commit(project, head);
    check();
    Files.createDirectories(options.workDirectory());
    Path directory = Files.createTempDirectory(options.workDirectory().toRealPath(), "regress-");
    WorktreeBenchmark benchmark = new WorktreeBenchmark(project, directory, benchOptions());
    Thread endHook = new Thread(() -> endEarly(benchmark, directory), "end-regress");
    Runtime.getRuntime().addShutdownHook(endHook);
    try {
      return publish(measure(benchmark, baseCommit, headCommit));
    } finally {
      LiveProcesses.remove(endHook);
      benchmark.close();
    }
  }

  private boolean measuresTransfers() {
    return job.equals(TRANSFER) || job.equals(LATENCY);
  }

  private int warmUps() {
    if (warmUps != null) {
      return warmUps;
    }
    return measuresTransfers() ? TRANSFER_WARM_UPS : 1;
  }

  private void check() {
    LaunchOptions.check("--pairs", pairs, MIN_PAIRS, MAX_PAIRS);
    LaunchOptions.checkWarmUps(warmUps());
    LaunchOptions.check("--batch", batch, 1, TransferCommand.MAX_BATCH);
    if (batch > 1 && !job.equals(LATENCY)) {
      throw new MisuseException("--batch is the number of blocks of a request of --job latency");
    }
    if (!measuresTransfers()) {
      shapes.forEach(ShuffleJob.valueOf(job.toUpperCase(Locale.ROOT))::workload);
      if (modes.stream().distinct().count() < 2) {
        throw new MisuseException(
            "--modes is '%s': give two shuffles or more, because ratios are to the first"
                .formatted(modes.get(0)));
      }
    }
    report.check();
  }

  /** The command of {@code ./bench} and its options for each run. */
  private List<String> benchOptions() {
    List<String> all =
        new ArrayList<>(job.equals(LATENCY) ? List.of(TRANSFER, "--latency") : List.of(job));
    if (measuresTransfers()) {
      String lengths = sizes.stream().map(DataSize::toOption).collect(Collectors.joining(","));
      all.addAll(List.of("--sizes", lengths, "--verify", verify.toString()));
      all.addAll(List.of("--rounds", Integer.toString(TRANSFER_ROUNDS)));
      if (job.equals(LATENCY)) {
        all.addAll(List.of("--batch", Integer.toString(batch)));
      }
    } else {
      if (!shapes.isEmpty()) {
        all.addAll(List.of("--shapes", String.join(",", shapes)));
      }
      String wanted =
          modes.stream().distinct().map(ShuffleMode::toString).collect(Collectors.joining(","));
      all.addAll(List.of("--modes", wanted, "--rounds", "1"));
    }
    all.addAll(List.of("--warm-ups", Integer.toString(warmUps())));
    return all;
  }

  /** Builds both commits and runs the pairs. Each pair begins with the other commit. */
  private RegressReport measure(WorktreeBenchmark benchmark, Commit baseCommit, Commit headCommit)
      throws LaunchException, IOException, InterruptedException {
    Environment environment = Environment.now();
    ProgressLog progress = options.progress();
    for (Commit commit : List.of(baseCommit, headCommit)) {
      progress.log("building " + commit);
      benchmark.build(commit);
    }
    List<Map<MeasuredRatio, MeasuredRatio.Values>> ofBase = new ArrayList<>();
    List<Map<MeasuredRatio, MeasuredRatio.Values>> ofHead = new ArrayList<>();
    for (int pair = 1; pair <= pairs; pair++) {
      boolean baseFirst = pair % 2 == 1;
      for (boolean isBase : new boolean[] {baseFirst, !baseFirst}) {
        Commit commit = isBase ? baseCommit : headCommit;
        progress.log("pair %d of %d: %s".formatted(pair, pairs, commit));
        (isBase ? ofBase : ofHead).add(benchmark.run(commit));
      }
      // Hours of measurements must not depend on what follows.
      report.write(
          new MeasuredPairs(environment, baseCommit, headCommit, raw(ofBase), raw(ofHead)));
    }
    return new RegressReport(environment, baseCommit, headCommit, RatioChange.of(ofBase, ofHead));
  }

  private static List<Map<String, List<Double>>> raw(
      List<Map<MeasuredRatio, MeasuredRatio.Values>> runs) {
    List<Map<String, List<Double>>> raw = new ArrayList<>();
    for (Map<MeasuredRatio, MeasuredRatio.Values> run : runs) {
      Map<String, List<Double>> named = new LinkedHashMap<>();
      run.forEach(
          (one, values) ->
              named.put(one.shape() + ", " + one.ratio() + ", " + one.metric(), values.values()));
      raw.add(named);
    }
    return raw;
  }

  private int publish(RegressReport result) throws LaunchException {
    if (result.changes().isEmpty()) {
      throw new LaunchException(
          "nothing was compared: the commits have no shape, shuffle and ratio in common");
    }
    System.out.printf("%nbase %s%nhead %s%n%n", result.base(), result.head());
    System.out.println(RatioChange.table(result.changes()));
    System.out.println(RatioChange.RULE);
    report.write(result);
    long worse =
        result.changes().stream()
            .filter(change -> change.verdict() == RatioChange.Verdict.WORSE)
            .count();
    System.out.println(worse == 0 ? "No ratio is worse." : "Ratios that are worse: " + worse);
    return worse == 0 ? 0 : 1;
  }

  /** Shutdown hook for Ctrl-C and other signals: ends the processes, removes the work trees. */
  private static void endEarly(WorktreeBenchmark benchmark, Path directory) {
    System.err.println();
    System.err.println("bench: interrupted: removing the work trees");
    try {
      benchmark.close();
    } catch (LaunchException | IOException | InterruptedException e) {
      System.err.println("bench: cannot delete " + directory + ": " + e.getMessage());
    }
  }

  /**
   * What the report has until all pairs have run.
   *
   * @param baseRuns values of each run by shape, ratio and metric
   */
  private record MeasuredPairs(
      Environment environment,
      Commit base,
      Commit head,
      List<Map<String, List<Double>>> baseRuns,
      List<Map<String, List<Double>>> headRuns) {}

  /**
   * Result of two commits that ran in turn on one machine.
   *
   * @param environment the machine at the start
   * @param changes one for each ratio
   */
  private record RegressReport(
      Environment environment, Commit base, Commit head, List<RatioChange> changes) {}
}
