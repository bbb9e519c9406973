// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;

/**
 * Change of one ratio between two reports or two commits. Only ratios are compared, because
 * absolute times of two machines, or of one machine at two times, cannot be.
 *
 * @param base median and quartiles of the ratio in the first
 * @param head likewise, in the second
 */
public record RatioChange(
    String shape,
    String ratio,
    String metric,
    Quartiles base,
    Quartiles head,
    Verdict verdict,
    List<Double> baseValues,
    List<Double> headValues) {
  /** The meaning of a verdict, for users. */
  public static final String RULE =
      "A ratio is worse or better when its values differ so much that chance does it to at most 1 in"
          + " 100 ratios of equal systems (rank-sum test). Load that lasted for the whole of one run is"
          + " not chance. Five values of each are enough for a verdict; with fewer of one, the other"
          + " needs more.";

  private static final int TEXT_COLUMNS = 3;
  private static final int VERDICT_COLUMN = 6;

  /** The changes of the ratios that both have. */
  public static List<RatioChange> of(List<MeasuredRatio> base, List<MeasuredRatio> head) {
    List<RatioChange> changes = new ArrayList<>();
    List<MeasuredRatio> done = new ArrayList<>();
    for (MeasuredRatio one : base) {
      if (done.stream().anyMatch(one::isSameQuantity)) {
        continue;
      }
      done.add(one);
      List<Double> before = values(one, base);
      List<Double> after = values(one, head);
      if (!before.isEmpty() && !after.isEmpty()) {
        changes.add(
            new RatioChange(
                one.shape(),
                one.ratio(),
                one.metric(),
                Quartiles.of(before, Double::doubleValue),
                Quartiles.of(after, Double::doubleValue),
                Verdict.of(before, after, one.lessIsBetter()),
                before,
                after));
      }
    }
    return changes;
  }

  private static List<Double> values(MeasuredRatio quantity, List<MeasuredRatio> all) {
    return all.stream()
        .filter(quantity::isSameQuantity)
        .map(MeasuredRatio::value)
        .filter(value -> !value.isNaN())
        .toList();
  }

  /** The changes as plain text. */
  public static String table(List<RatioChange> changes) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("shape", "ratio", "metric", "base", "head", "head / base", "verdict"));
    for (RatioChange one : changes) {
      rows.add(
          List.of(
              one.shape,
              one.ratio,
              one.metric,
              one.base.format(2),
              one.head.format(2),
              String.format(Locale.ROOT, "%.2f", one.head.median() / one.base.median()),
              one.verdict.toString()));
    }
    return TextTable.of(rows, column -> column < TEXT_COLUMNS || column == VERDICT_COLUMN);
  }
}
