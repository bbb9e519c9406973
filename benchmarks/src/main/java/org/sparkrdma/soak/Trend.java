// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.List;

/**
 * Trend of one measure of one executor after the warm-up.
 *
 * @param first median of the first third of the samples
 * @param last median of the last third
 * @param allowed growth that counts as flat
 */
record Trend(Measure measure, double first, double last, double allowed) {
  private static final int PARTS = 3;

  /**
   * @param values in the order of time, at least three
   */
  static Trend of(Measure measure, List<Double> values) {
    int third = values.size() / PARTS;
    double first = median(values.subList(0, third));
    double last = median(values.subList(values.size() - third, values.size()));
    return new Trend(
        measure,
        first,
        last,
        Math.max(measure.allowedUnits(), Measure.ALLOWED_PART * Math.abs(first)));
  }

  /** Whether the measure did not grow; true for a measure that is not judged. */
  boolean isFlat() {
    return !measure.isJudged() || last - first <= allowed;
  }

  private static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }
}
