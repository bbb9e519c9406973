// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.launch.Quartiles;

/**
 * Compares two reports of the same job by their ratios to the first shuffle. Absolute times of two
 * machines, or of one machine at two times, cannot be compared.
 */
public record Comparison(BenchmarkReport first, BenchmarkReport second) {
  private static final int DECIMALS = 2;

  /**
   * One ratio in both reports.
   *
   * @param of the shape, the shuffle and the metric
   */
  public record Line(
      String shape, ShuffleMode of, Metric metric, Quartiles first, Quartiles second) {
    public double change() {
      return second.median() / first.median();
    }

    /** Whether the ranges between the quartiles do not overlap. */
    public boolean isBeyondSpread() {
      return first.upper() < second.lower() || second.upper() < first.lower();
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
                  lines.add(new Line(first.shape(), summary.mode(), metric, ratio, otherRatio));
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
    rows.add(List.of("shape", "ratio", "metric", "first", "second", "second / first", "changed"));
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
              line.isBeyondSpread() ? "beyond spread" : "within spread"));
    }
    return rows;
  }

  /** An HTML page of it. */
  public String page() {
    HtmlPage page = new HtmlPage("Comparison of two shuffle benchmarks: " + first.plan().job());
    page.paragraph(
        "Ratios to the shuffle "
            + first.plan().modes().get(0)
            + " of the same report: median and quartiles of the rounds. A ratio changed beyond its"
            + " spread when the ranges between the quartiles have nothing in common.");
    page.beginCharts();
    for (Line line : lines()) {
      page.chart(
          "%s, %s, %s".formatted(line.shape(), line.of(), line.metric()),
          "ratio",
          List.of(
              new HtmlPage.Bar("first", line.first(), List.of()),
              new HtmlPage.Bar("second", line.second(), List.of())));
    }
    page.endCharts();
    page.table(rows());
    page.heading("First report");
    page.textTable(BenchmarkPage.environment(first));
    page.heading("Second report");
    page.textTable(BenchmarkPage.environment(second));
    return page.render();
  }
}
