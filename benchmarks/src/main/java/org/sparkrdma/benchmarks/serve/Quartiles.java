/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
