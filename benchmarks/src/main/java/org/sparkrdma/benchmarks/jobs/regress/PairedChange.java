// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.regress;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.benchmarks.jobs.report.Verdict;
import org.sparkrdma.launch.Quartiles;

/**
 * Change of one ratio between two commits that ran in pairs.
 *
 * @param base median and quartiles of the ratio
 * @param head the same of the other commit
 * @param change head's ratio / base's ratio of each pair: median and quartiles
 * @param baseValues the ratio of base in each pair
 * @param headValues likewise, of head
 */
record PairedChange(
    String shape,
    String ratio,
    String metric,
    Quartiles base,
    Quartiles head,
    Quartiles change,
    Verdict verdict,
    List<Double> baseValues,
    List<Double> headValues) {
  /** One pair in this number may disagree with the others. */
  private static final int PAIRS_PER_OUTLIER = 6;

  /** Stands for the change of a ratio that was 0. */
  private static final double MAX_CHANGE = 1_000;

  /**
   * @param baseValues values of the ratio in the pairs, at least one; without NaN
   * @param headValues as many
   */
  static PairedChange of(MeasuredRatio ratio, List<Double> baseValues, List<Double> headValues) {
    List<Double> changes = new ArrayList<>();
    for (int i = 0; i < baseValues.size(); i++) {
      double before = baseValues.get(i);
      double after = headValues.get(i);
      changes.add(before == after ? 1 : Math.min(after / before, MAX_CHANGE));
    }
    Quartiles base = Quartiles.of(baseValues, Double::doubleValue);
    Quartiles head = Quartiles.of(headValues, Double::doubleValue);
    return new PairedChange(
        ratio.shape(),
        ratio.ratio(),
        ratio.metric(),
        base,
        head,
        Quartiles.of(changes, Double::doubleValue),
        verdict(ratio.lessIsBetter(), base, head, changes),
        baseValues,
        headValues);
  }

  /**
   * Beyond its spread is a ratio whose ranges between the quartiles do not overlap and whose pairs
   * agree on the direction, but for one pair in six. Quartiles alone would call one of five ratios
   * of equal commits changed in five pairs.
   */
  private static Verdict verdict(
      boolean lessIsBetter, Quartiles base, Quartiles head, List<Double> changes) {
    int outliers = changes.size() / PAIRS_PER_OUTLIER;
    if (base.upper() < head.lower()
        && changes.stream().filter(change -> change <= 1).count() <= outliers) {
      return lessIsBetter ? Verdict.WORSE : Verdict.BETTER;
    }
    if (head.upper() < base.lower()
        && changes.stream().filter(change -> change >= 1).count() <= outliers) {
      return lessIsBetter ? Verdict.BETTER : Verdict.WORSE;
    }
    return Verdict.WITHIN_SPREAD;
  }

  /** A row of a table. */
  List<String> row() {
    return List.of(
        shape,
        ratio,
        metric,
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
