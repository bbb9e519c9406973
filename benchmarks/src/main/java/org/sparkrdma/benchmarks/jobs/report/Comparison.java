// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.sparkrdma.benchmarks.jobs.environment.Environment;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.launch.Quartiles;

/**
 * Compares two reports of the same job by their ratios to the first shuffle. Absolute times of two
 * machines, or of one machine at two times, cannot be compared.
 */
public record Comparison(BenchmarkReport first, BenchmarkReport second) {
  /** The meaning of a verdict, for users. */
  public static final String RULE =
      "A ratio is worse or better when its rounds in the two reports differ so much that chance"
          + " does it to at most 1 in 100 ratios of equal systems (rank-sum test). Load that lasted"
          + " for the whole of one run is not chance. Reports of five rounds are enough for a"
          + " verdict; with fewer rounds in one, the other needs more.";

  private static final int DECIMALS = 2;
  private static final String NONE = "-";

  /** Differs between any two runs. */
  private static final String SERVICE_PORT = "spark.shuffle.service.port";

  /**
   * One ratio in both reports.
   *
   * @param of the shuffle, whose ratio is to the first one
   * @param firstRounds the ratio in each round of the first report; NaN where there is none
   */
  public record Line(
      String shape,
      ShuffleMode of,
      Metric metric,
      Quartiles first,
      Quartiles second,
      List<Double> firstRounds,
      List<Double> secondRounds) {
    public double change() {
      return second.median() / first.median();
    }

    /** Verdict about the second report; its rounds form no pairs with those of the first. */
    Verdict verdict() {
      return Verdict.of(known(firstRounds), known(secondRounds));
    }

    private static List<Double> known(List<Double> ratios) {
      return ratios.stream().filter(ratio -> !ratio.isNaN()).toList();
    }
  }

  /** The ratios that are in both reports. */
  public List<Line> lines() {
    List<Line> lines = new ArrayList<>();
    for (CaseReport each : first.cases()) {
      second.cases().stream()
          .filter(other -> other.shape().equals(each.shape()))
          .findFirst()
          .ifPresent(other -> addLines(each, other, lines));
    }
    return lines;
  }

  private static void addLines(CaseReport first, CaseReport second, List<Line> lines) {
    for (CaseReport.Summary summary : first.summaries()) {
      Optional<CaseReport.Summary> other =
          second.summaries().stream().filter(one -> one.mode() == summary.mode()).findFirst();
      if (other.isEmpty()) {
        continue;
      }
      summary
          .ratios()
          .forEach(
              (metric, ratio) -> {
                Quartiles otherRatio = other.get().ratios().get(metric);
                if (otherRatio != null) {
                  lines.add(
                      new Line(
                          first.shape(),
                          summary.mode(),
                          metric,
                          ratio,
                          otherRatio,
                          first.ratios(summary.mode(), metric),
                          second.ratios(summary.mode(), metric)));
                }
              });
    }
  }

  /** The reason why the reports cannot be compared, in one sentence. */
  public Optional<String> objection() {
    if (first.plan().job() != second.plan().job()) {
      return Optional.of(
          "the reports are of different jobs: %s and %s"
              .formatted(first.plan().job(), second.plan().job()));
    }
    ShuffleMode baseline = first.plan().modes().get(0);
    ShuffleMode other = second.plan().modes().get(0);
    if (baseline != other) {
      return Optional.of(
          "the ratios are to different shuffles: %s and %s".formatted(baseline, other));
    }
    return lines().isEmpty()
        ? Optional.of("the reports have no shape and shuffle in common")
        : Optional.empty();
  }

  /** Rows of a table, the headings first. */
  public List<List<String>> rows() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("shape", "ratio", "metric", "first", "second", "second / first", "verdict"));
    String baseline = first.plan().modes().get(0).toString();
    for (Line line : lines()) {
      rows.add(
          List.of(
              line.shape(),
              line.of() + " / " + baseline,
              line.metric().toString(),
              line.first().format(DECIMALS),
              line.second().format(DECIMALS),
              String.format(Locale.ROOT, "%.2f", line.change()),
              line.verdict().toString()));
    }
    return rows;
  }

  /**
   * Rows of a table, the headings first: other differences that may change a ratio, of options,
   * versions and settings.
   */
  public List<List<String>> differences() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("difference", "first", "second"));
    Map<String, String> one = facts(first);
    Map<String, String> other = facts(second);
    Set<String> names = new TreeSet<>(one.keySet());
    names.addAll(other.keySet());
    for (String name : names) {
      String before = one.getOrDefault(name, NONE);
      String after = other.getOrDefault(name, NONE);
      if (!before.equals(after)) {
        rows.add(List.of(name, before, after));
      }
    }
    return rows;
  }

  private static Map<String, String> facts(BenchmarkReport report) {
    Environment environment = report.environment();
    Map<String, String> facts = new TreeMap<>();
    if (environment.settings() != null) {
      facts.putAll(environment.settings());
      facts.remove(SERVICE_PORT);
    }
    facts.put("--warm-ups", Integer.toString(report.plan().warmUps()));
    facts.put("Spark", environment.spark());
    facts.put("Java", environment.java());
    facts.put("driver's host", environment.host());
    facts.put("plug-in", environment.version());
    facts.values().removeIf(Objects::isNull);
    return facts;
  }
}
