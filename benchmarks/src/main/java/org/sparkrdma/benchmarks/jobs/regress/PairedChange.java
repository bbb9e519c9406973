// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.regress;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.benchmarks.jobs.report.Comparison;
import org.sparkrdma.benchmarks.jobs.report.Metric;
import org.sparkrdma.benchmarks.jobs.report.Verdict;
import org.sparkrdma.launch.Quartiles;

/**
 * Change of one ratio between two commits that ran in pairs.
 *
 * @param ratio to the first shuffle of the same run
 * @param base median and quartiles of the ratio
 * @param head the same of the other commit
 * @param change head's ratio / base's ratio of each pair: median and quartiles
 */
record PairedChange(
    String shape,
    String ratio,
    Metric metric,
    Quartiles base,
    Quartiles head,
    Quartiles change,
    Verdict verdict) {
  /** One pair in this number may disagree with the others. */
  private static final int PAIRS_PER_OUTLIER = 6;

  /** Stands for the change of a ratio that was 0. */
  private static final double MAX_CHANGE = 1_000;

  /** The change of each ratio that both reports have in at least {@code minPairs} pairs. */
  static List<PairedChange> of(Comparison comparison, int minPairs) {
    List<PairedChange> changes = new ArrayList<>();
    for (Comparison.Line line : comparison.lines()) {
      List<Double> pairs = pairs(line);
      if (pairs.size() >= minPairs) {
        changes.add(
            new PairedChange(
                line.shape(),
                line.of() + " / " + comparison.first().plan().modes().get(0),
                line.metric(),
                line.first(),
                line.second(),
                Quartiles.of(pairs, Double::doubleValue),
                verdict(line, pairs)));
      }
    }
    return changes;
  }

  private static List<Double> pairs(Comparison.Line line) {
    List<Double> base = line.firstRounds();
    List<Double> head = line.secondRounds();
    List<Double> pairs = new ArrayList<>();
    for (int i = 0; i < Math.min(base.size(), head.size()); i++) {
      double before = base.get(i);
      double after = head.get(i);
      double change = before == after ? 1 : Math.min(after / before, MAX_CHANGE);
      if (!Double.isNaN(change)) {
        pairs.add(change);
      }
    }
    return pairs;
  }

  /**
   * Beyond its spread is a ratio whose ranges between the quartiles do not overlap and whose pairs
   * agree on the direction, but for one pair in six. Quartiles alone would call one of five ratios
   * of equal commits changed in five pairs.
   */
  private static Verdict verdict(Comparison.Line line, List<Double> pairs) {
    int outliers = pairs.size() / PAIRS_PER_OUTLIER;
    if (quartilesAreApart(line)) {
      if (line.change() > 1 && pairs.stream().filter(pair -> pair <= 1).count() <= outliers) {
        return Verdict.WORSE;
      }
      if (line.change() < 1 && pairs.stream().filter(pair -> pair >= 1).count() <= outliers) {
        return Verdict.BETTER;
      }
    }
    return Verdict.WITHIN_SPREAD;
  }

  private static boolean quartilesAreApart(Comparison.Line line) {
    return line.first().upper() < line.second().lower()
        || line.second().upper() < line.first().lower();
  }

  /** A row of a table. */
  List<String> row() {
    return List.of(
        shape,
        ratio,
        metric.toString(),
        base.format(2),
        head.format(2),
        String.format(Locale.ROOT, "%.2f", change.median()),
        verdict.toString());
  }

  /** The headings of the table. */
  static List<String> headings() {
    return List.of("shape", "ratio", "metric", "base", "head", "head / base", "verdict");
  }
}
