// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Median and quartiles of some values, interpolated between the two nearest values. */
public record Quartiles(double median, double lower, double upper) {
  /**
   * @param items at least one
   */
  public static <T> Quartiles of(List<T> items, ToDoubleFunction<T> value) {
    double[] sorted = items.stream().mapToDouble(value).sorted().toArray();
    return new Quartiles(quantile(sorted, 0.5), quantile(sorted, 0.25), quantile(sorted, 0.75));
  }

  private static double quantile(double[] sorted, double part) {
    double position = part * (sorted.length - 1);
    int below = (int) position;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
  }

  /** Median and quartiles, to print. */
  public String format(int decimals) {
    return "%s (%s..%s)"
        .formatted(number(median, decimals), number(lower, decimals), number(upper, decimals));
  }

  /** Median, and quartiles if they differ, with at most three digits behind the point. */
  public String format() {
    int decimals = median < 1 ? 3 : median < 100 ? 2 : 0;
    return lower == upper ? number(median, decimals) : format(decimals);
  }

  private static String number(double value, int decimals) {
    return String.format(Locale.ROOT, "%." + decimals + "f", value);
  }
}
