// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.sparkrdma.launch.Quartiles;

/**
 * All runs of one shape.
 *
 * @param summaries one for each shuffle, in the user's order
 * @param runs in the order of time
 */
public record CaseReport(String shape, List<Summary> summaries, List<RunResult> runs) {

  /**
   * The runs under one shuffle.
   *
   * @param values median and quartiles of the rounds
   * @param ratios to the first shuffle, of each round, median and quartiles; empty for the first
   */
  public record Summary(
      ShuffleMode mode, Map<Metric, Quartiles> values, Map<Metric, Quartiles> ratios) {}

  /** False for JSON in which parts are missing. */
  @JsonIgnore
  boolean isComplete() {
    return shape != null
        && summaries != null
        && !summaries.isEmpty()
        && runs != null
        && summaries.stream().allMatch(each -> each != null && each.mode() != null);
  }

  public static CaseReport of(String shape, List<ShuffleMode> modes, List<RunResult> runs) {
    List<Summary> summaries = new ArrayList<>();
    List<RunResult> baseline = of(modes.get(0), runs);
    for (ShuffleMode mode : modes) {
      List<RunResult> results = of(mode, runs);
      Map<Metric, Quartiles> values = new EnumMap<>(Metric.class);
      Map<Metric, Quartiles> ratios = new EnumMap<>(Metric.class);
      for (Metric metric : Metric.values()) {
        values.put(metric, Quartiles.of(results, metric::of));
        List<Double> known =
            ratios(results, baseline, metric::of).stream().filter(one -> !one.isNaN()).toList();
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

  /** Both lists have the rounds in ascending order. */
  private static List<Double> ratios(
      List<RunResult> results, List<RunResult> baseline, ToDoubleFunction<RunResult> value) {
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      double base = value.applyAsDouble(baseline.get(i));
      ratios.add(base > 0 ? value.applyAsDouble(results.get(i)) / base : Double.NaN);
    }
    return ratios;
  }

  /** The ratio of one value to the first shuffle in each round; NaN where that is not positive. */
  List<Double> ratios(ShuffleMode mode, ToDoubleFunction<RunResult> value) {
    return ratios(runs(mode), runs(summaries.get(0).mode()), value);
  }

  /** The runs under one shuffle, in the order of their rounds. */
  List<RunResult> runs(ShuffleMode mode) {
    return of(mode, runs);
  }
}
