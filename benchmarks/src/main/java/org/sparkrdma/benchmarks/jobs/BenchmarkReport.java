// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.MisuseException;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;

/** Content of a benchmark's JSON file; one of another kind lacks the parts that are required. */
public record BenchmarkReport(
    @JsonProperty(required = true) BenchmarkPlan plan,
    Environment environment,
    @JsonProperty(required = true) List<CaseReport> cases) {
  /** Reads reports of other versions too. */
  static final ObjectMapper JSON =
      new ObjectMapper()
          .configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false)
          .configure(DeserializationFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL, true);

  /** Ratios of fewer rounds show chance more than a difference. */
  private static final int MIN_ROUNDS_FOR_RATIOS = 3;

  /** Number of runs after which the JVM compiles little. */
  private static final int ENOUGH_WARM_UPS = 4;

  /** The report in a file that the user names. */
  public static BenchmarkReport read(Path file) {
    try {
      return JSON.readValue(file.toFile(), BenchmarkReport.class);
    } catch (IOException e) {
      throw new MisuseException("not a readable report of a job of ./bench: " + file);
    }
  }

  /** Job and shape of a case, and whether its runs were the first of their executors. */
  public String name(CaseReport one) {
    return plan.job() + " " + one.shape() + (plan.warmUps() == 0 ? ", new executors" : "");
  }

  /** The report as plain text: values of each case, then ratios if there are enough rounds. */
  public String table() {
    StringBuilder text = new StringBuilder();
    int rounds = plan.rounds();
    for (CaseReport each : cases) {
      text.append(
          "%s %s: median (quartiles) of %d round%s%n"
              .formatted(plan.job(), each.shape(), rounds, rounds == 1 ? "" : "s"));
      text.append(each.values(rounds)).append('\n');
      if (each.summaries().size() > 1 && rounds >= MIN_ROUNDS_FOR_RATIOS) {
        text.append(each.ratios()).append('\n');
      }
      Set<String> queries =
          each.runs().isEmpty() ? Set.of() : each.runs().get(0).querySeconds().keySet();
      if (queries.size() > 1) {
        text.append(each.times(queries)).append('\n');
      }
    }
    if (rounds > 1) {
      text.append("Bytes and blocks are medians of the rounds; fallbacks are sums of them.\n");
    }
    if (plan.warmUps() < ENOUGH_WARM_UPS) {
      text.append(
          ("With --warm-ups %d each run is one of the first of its executors, in which the JVM still"
                  + " compiles and the plug-in starts. For applications of more than a minute add"
                  + " --warm-ups 5.")
              .formatted(plan.warmUps()));
    }
    return text.toString().stripTrailing();
  }

  /**
   * All runs of one shape.
   *
   * @param summaries one for each shuffle, in the user's order
   * @param runs in the order of time
   */
  public record CaseReport(
      @JsonProperty(required = true) String shape,
      @JsonProperty(required = true) List<Summary> summaries,
      @JsonProperty(required = true) List<RunResult> runs) {

    /**
     * The runs under one shuffle.
     *
     * @param values median and quartiles of the rounds
     * @param ratios to the first shuffle, of each round, median and quartiles; empty for the first
     */
    public record Summary(
        ShuffleMode mode, Map<Metric, Quartiles> values, Map<Metric, Quartiles> ratios) {}

    public static CaseReport of(String shape, List<ShuffleMode> modes, List<RunResult> runs) {
      List<Summary> summaries = new ArrayList<>();
      CaseReport report = new CaseReport(shape, summaries, runs);
      for (ShuffleMode mode : modes) {
        Map<Metric, Quartiles> values = new EnumMap<>(Metric.class);
        Map<Metric, Quartiles> ratios = new EnumMap<>(Metric.class);
        summaries.add(new Summary(mode, values, ratios));
        for (Metric metric : Metric.values()) {
          values.put(metric, Quartiles.of(report.runsOf(mode), metric::of));
          List<Double> known = report.ratios(mode, metric::of);
          if (mode != modes.get(0) && !known.isEmpty()) {
            ratios.put(metric, Quartiles.of(known, Double::doubleValue));
          }
        }
      }
      return report;
    }

    /** The runs under one shuffle, in the order of their rounds. */
    public List<RunResult> runsOf(ShuffleMode mode) {
      return runs.stream().filter(run -> run.mode() == mode).toList();
    }

    /** The ratio of one value to the first shuffle in each round where that is positive. */
    List<Double> ratios(ShuffleMode mode, ToDoubleFunction<RunResult> value) {
      List<RunResult> baseline = runsOf(summaries.get(0).mode());
      List<RunResult> results = runsOf(mode);
      List<Double> ratios = new ArrayList<>();
      for (int i = 0; i < results.size(); i++) {
        double base = value.applyAsDouble(baseline.get(i));
        if (base > 0) {
          ratios.add(value.applyAsDouble(results.get(i)) / base);
        }
      }
      return ratios;
    }

    /** The shuffles that are compared with the first. */
    List<Summary> others() {
      return summaries.subList(1, summaries.size());
    }

    private String ratioTo(Summary other) {
      return other.mode() + " / " + summaries.get(0).mode();
    }

    /** The shuffles with median and quartiles of each metric; of one round the time only. */
    private String values(int rounds) {
      TextTable<Summary> table =
          new TextTable<Summary>().text("shuffle", summary -> summary.mode().toString());
      for (Metric metric : rounds == 1 ? List.of(Metric.WALL) : List.of(Metric.values())) {
        table.number(metric.heading(), summary -> summary.values().get(metric).format());
      }
      table.number("by READ", summary -> bytes(summary, run -> run.bytes().read()));
      table.number("by TCP", summary -> bytes(summary, run -> run.bytes().tcp()));
      if (rounds > 1) {
        table.number("local", summary -> bytes(summary, run -> run.bytes().local()));
        table.number("remote blocks", this::remoteBlocks);
      }
      return table.text("fallbacks", this::fallbacks).of(summaries);
    }

    private String bytes(Summary summary, ToLongFunction<RunResult> value) {
      return new DataSize(median(summary, value)).toString();
    }

    private String remoteBlocks(Summary summary) {
      long blocks = median(summary, run -> run.blocks().read() + run.blocks().tcp());
      return String.format(Locale.ROOT, "%,d", blocks);
    }

    private long median(Summary summary, ToLongFunction<RunResult> value) {
      long[] sorted = runsOf(summary.mode()).stream().mapToLong(value).sorted().toArray();
      return sorted[sorted.length / 2];
    }

    private String fallbacks(Summary summary) {
      Map<String, Long> sums = new TreeMap<>();
      runsOf(summary.mode())
          .forEach(run -> run.fallbacks().forEach((name, n) -> sums.merge(name, n, Long::sum)));
      return sums.isEmpty()
          ? "none"
          : sums.entrySet().stream()
              .map(entry -> "%d blocks (%s)".formatted(entry.getValue(), entry.getKey()))
              .collect(Collectors.joining(", "));
    }

    /** The ratios to the first shuffle. */
    private String ratios() {
      TextTable<Summary> table = new TextTable<Summary>().text("ratio", this::ratioTo);
      for (Metric metric : Metric.values()) {
        table.number(
            metric.toString(),
            other ->
                Optional.ofNullable(other.ratios().get(metric)).map(Quartiles::format).orElse("-"));
      }
      return table.of(others());
    }

    /** Wall time of each query, then its ratio to the first shuffle. */
    private String times(Set<String> queries) {
      TextTable<String> table = new TextTable<String>().text("query", query -> query);
      for (Summary each : summaries) {
        table.number(
            each.mode() + " s",
            query -> Quartiles.of(runsOf(each.mode()), run -> run.seconds(query)).format());
      }
      for (Summary other : others()) {
        table.number(
            ratioTo(other),
            query ->
                Quartiles.of(ratios(other.mode(), run -> run.seconds(query)), Double::doubleValue)
                    .format());
      }
      return table.of(queries);
    }
  }

  /**
   * One measured run.
   *
   * @param round from 1
   * @param seconds wall time of the job
   * @param fetchWaitSeconds time that tasks waited for remote blocks, summed over tasks, as Spark
   *     counts it
   * @param executorCpuSeconds CPU time of all executor processes during the job
   * @param gcSeconds time that the executors' garbage collectors ran
   * @param peakMemoryBytes largest resident memory of any executor since it started
   * @param fallbacks blocks or reads that used TCP under the plug-in, by reason
   * @param querySeconds wall time of each query, of a job that consists of queries; else empty
   * @param frozen of a run in which an executor was stopped for a while; else null
   */
  public record RunResult(
      ShuffleMode mode,
      int round,
      int executors,
      double seconds,
      double fetchWaitSeconds,
      double executorCpuSeconds,
      double gcSeconds,
      long peakMemoryBytes,
      ByPath bytes,
      ByPath blocks,
      Map<String, Long> fallbacks,
      ComputedAnswer.Answer answer,
      Map<String, Double> querySeconds,
      Frozen frozen) {
    /** Reports of older versions have no times of queries. */
    public RunResult {
      querySeconds = querySeconds == null ? Map.of() : querySeconds;
    }

    /** The sums of this run and another one in the same executors, which stops none. */
    RunResult plus(RunResult next) {
      Map<String, Long> allFallbacks = new TreeMap<>(fallbacks);
      next.fallbacks.forEach((name, n) -> allFallbacks.merge(name, n, Long::sum));
      Map<String, Double> allQueries = new LinkedHashMap<>(querySeconds);
      next.querySeconds.forEach((name, time) -> allQueries.merge(name, time, Double::sum));
      return new RunResult(
          mode,
          round,
          executors,
          seconds + next.seconds,
          fetchWaitSeconds + next.fetchWaitSeconds,
          executorCpuSeconds + next.executorCpuSeconds,
          gcSeconds + next.gcSeconds,
          Math.max(peakMemoryBytes, next.peakMemoryBytes),
          bytes.plus(next.bytes),
          blocks.plus(next.blocks),
          allFallbacks,
          answer,
          allQueries,
          frozen);
    }

    private double seconds(String query) {
      return querySeconds.getOrDefault(query, Double.NaN);
    }

    /**
     * A run in which an executor was stopped for a while.
     *
     * @param taskSeconds time of the tasks of the other executors, summed
     * @param fetchWaitSeconds time that these tasks waited for remote blocks
     * @param bytesAfter of a run a minute after the stop; null without the plug-in
     */
    public record Frozen(double taskSeconds, double fetchWaitSeconds, ByPath bytesAfter) {}

    /** Bytes or blocks that tasks read in shuffles by RDMA READ, by TCP and locally. */
    public record ByPath(long read, long tcp, long local) {
      private ByPath plus(ByPath next) {
        return new ByPath(read + next.read, tcp + next.tcp, local + next.local);
      }
    }
  }

  /** A measured quantity of a run; less is better. */
  public enum Metric {
    WALL("wall", "s"),
    FETCH_WAIT("fetch wait", "s"),
    CPU("executor CPU", "s"),
    GC("GC", "s"),
    PEAK_MEMORY("peak memory", "MiB");

    private static final double BYTES_PER_MIB = 1 << 20;

    private final String label;
    private final String unit;

    Metric(String label, String unit) {
      this.label = label;
      this.unit = unit;
    }

    /** The metric's value of one run. */
    double of(RunResult result) {
      return switch (this) {
        case WALL -> result.seconds();
        case FETCH_WAIT -> result.fetchWaitSeconds();
        case CPU -> result.executorCpuSeconds();
        case GC -> result.gcSeconds();
        case PEAK_MEMORY -> result.peakMemoryBytes() / BYTES_PER_MIB;
      };
    }

    /** Name and unit, for the heading of a column. */
    String heading() {
      return label + " " + unit;
    }

    /** The name in tables and reports. */
    @JsonValue
    @Override
    public String toString() {
      return label;
    }
  }
}
