// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.sparkrdma.launch.Quartiles;

/** Content of a benchmark's JSON file; one of another kind lacks the parts that are required. */
public record BenchmarkReport(
    @JsonProperty(required = true) BenchmarkPlan plan,
    Environment environment,
    @JsonProperty(required = true) List<CaseReport> cases) {
  /** The same without the directory of the data, which is one of this run alone. */
  public BenchmarkReport withoutData() {
    return new BenchmarkReport(plan.withData(""), environment, cases);
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
      List<RunResult> baseline = of(modes.get(0), runs);
      for (ShuffleMode mode : modes) {
        List<RunResult> results = of(mode, runs);
        Map<Metric, Quartiles> values = new EnumMap<>(Metric.class);
        Map<Metric, Quartiles> ratios = new EnumMap<>(Metric.class);
        for (Metric metric : Metric.values()) {
          values.put(metric, Quartiles.of(results, metric::of));
          List<Double> known = ratios(results, baseline, metric::of);
          if (mode != modes.get(0) && !known.isEmpty()) {
            ratios.put(metric, Quartiles.of(known, Double::doubleValue));
          }
        }
        summaries.add(new Summary(mode, values, ratios));
      }
      return new CaseReport(shape, summaries, runs);
    }

    private static List<RunResult> of(ShuffleMode mode, List<RunResult> runs) {
      return runs.stream().filter(run -> run.mode() == mode).toList();
    }

    /** Both lists have the rounds in ascending order; rounds without a base have no ratio. */
    private static List<Double> ratios(
        List<RunResult> results, List<RunResult> baseline, ToDoubleFunction<RunResult> value) {
      List<Double> ratios = new ArrayList<>();
      for (int i = 0; i < results.size(); i++) {
        double base = value.applyAsDouble(baseline.get(i));
        if (base > 0) {
          ratios.add(value.applyAsDouble(results.get(i)) / base);
        }
      }
      return ratios;
    }

    /** The ratio of one value to the first shuffle in each round where that is positive. */
    List<Double> ratios(ShuffleMode mode, ToDoubleFunction<RunResult> value) {
      return ratios(runs(mode), runs(summaries.get(0).mode()), value);
    }

    /** The runs under one shuffle, in the order of their rounds. */
    List<RunResult> runs(ShuffleMode mode) {
      return of(mode, runs);
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
      Map<String, Double> querySeconds) {
    /** Reports of older versions have no times of queries. */
    public RunResult {
      querySeconds = querySeconds == null ? Map.of() : querySeconds;
    }

    /** Bytes or blocks that tasks read in shuffles by RDMA READ, by TCP and locally. */
    public record ByPath(long read, long tcp, long local) {}
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
