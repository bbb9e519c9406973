// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.serve;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The middle half of some values. */
record Quartiles(double median, double lower, double upper) {
  /**
   * @param items at least one
   */
  static <T> Quartiles of(List<T> items, ToDoubleFunction<T> value) {
    double[] sorted = items.stream().mapToDouble(value).sorted().toArray();
    return new Quartiles(
        sorted[sorted.length / 2], sorted[sorted.length / 4], sorted[sorted.length * 3 / 4]);
  }

  /** Median and quartiles, to print. */
  String format(int decimals) {
    String number = "%." + decimals + "f";
    return String.format(
        Locale.ROOT, number + " (" + number + ".." + number + ")", median, lower, upper);
  }
}
