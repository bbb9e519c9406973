// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.sparkrdma.launch.TextTable;

/**
 * Result of a soak.
 *
 * @param vanilla whether it ran under Spark's own shuffle
 * @param settings settings that depend on the seed, by key
 * @param faults how often executors were stopped and killed
 * @param longLivedExecutors the executors that are judged
 */
@JsonPropertyOrder({"seed", "seconds", "vanilla", "flat", "answersRight"})
record SoakReport(
    long seed,
    double seconds,
    boolean vanilla,
    boolean growthJudged,
    Map<String, String> settings,
    Map<String, Integer> faults,
    SoakPlan.Result result,
    List<LongLivedExecutor> longLivedExecutors,
    List<Sample> samples) {
  @JsonProperty
  boolean flat() {
    return !longLivedExecutors.isEmpty()
        && longLivedExecutors.stream().allMatch(LongLivedExecutor::isFlat);
  }

  @JsonProperty
  boolean answersRight() {
    return result.objection() == null;
  }

  /** The plug-in's counters other than 0: sums of the last reading of each executor. */
  @JsonProperty
  Map<String, Long> counters() {
    Map<String, Long> sums = new TreeMap<>();
    result
        .counters()
        .values()
        .forEach(one -> one.forEach((label, count) -> sums.merge(label, count, Long::sum)));
    sums.values().removeIf(count -> count == 0);
    return sums;
  }

  /** The reason why the soak has failed, in one sentence. */
  Optional<String> objection() {
    if (!answersRight()) {
      return Optional.of("a job failed or gave a wrong answer: " + result.objection());
    }
    if (!growthJudged) {
      return Optional.empty();
    }
    if (longLivedExecutors.isEmpty()) {
      return Optional.of("no executor lived long enough to be judged: give more --minutes");
    }
    return flat()
        ? Optional.empty()
        : Optional.of("a measure of an executor is not flat, see GROWS in the table");
  }

  /** Plain text: settings, jobs, faults, and a row for each measure of each executor. */
  String table() {
    List<Row> rows = new ArrayList<>();
    longLivedExecutors.forEach(
        executor -> executor.trends().forEach(trend -> rows.add(new Row(executor, trend))));
    return """
        seed      %d, %.1f minutes
        shuffle   %s
        settings  %s
        jobs      %s
        faults    %s
        counters  %s
        sampled   %d processes

        medians after the warm-up of the executors that lived through all of it
        """
            .formatted(
                seed,
                seconds / 60,
                vanilla ? "Spark's own" : "the plug-in's",
                list(settings),
                list(result.jobs()),
                list(faults),
                list(counters()),
                samples.stream().map(Sample::pid).distinct().count())
        + new TextTable<Row>()
            .text("executor", row -> row.executor.executor())
            .text("measure", row -> row.trend.measure().toString())
            .number("samples", row -> Integer.toString(row.executor.samples()))
            .number("first third", row -> number(row.trend.first()))
            .number("last third", row -> number(row.trend.last()))
            .number("allowed", row -> allowed(row.trend))
            .text("verdict", row -> verdict(row.trend))
            .of(rows);
  }

  private record Row(LongLivedExecutor executor, LongLivedExecutor.Trend trend) {}

  private static String allowed(LongLivedExecutor.Trend trend) {
    return trend.measure().isJudged() ? "+" + number(trend.allowed()) : "";
  }

  private static String verdict(LongLivedExecutor.Trend trend) {
    if (!trend.measure().isJudged()) {
      return "not judged";
    }
    return trend.isFlat() ? "flat" : "GROWS";
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private static String list(Map<String, ?> map) {
    return map.entrySet().stream()
        .map(entry -> entry.getKey() + "=" + entry.getValue())
        .collect(Collectors.joining(" "));
  }
}
