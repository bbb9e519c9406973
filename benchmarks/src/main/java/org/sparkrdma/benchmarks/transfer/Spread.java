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
package org.sparkrdma.benchmarks.transfer;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Some values of one kind: the middle one and the ends. */
public record Spread(double median, double min, double max) {
  /**
   * @param items at least one
   */
  public static <T> Spread of(List<T> items, ToDoubleFunction<T> value) {
    double[] sorted = items.stream().mapToDouble(value).sorted().toArray();
    int middle = sorted.length / 2;
    double median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Spread(median, sorted[0], sorted[sorted.length - 1]);
  }

  /** Median and range, to print. */
  public String format(int decimals) {
    String number = "%." + decimals + "f";
    return String.format(
        Locale.ROOT, number + " (" + number + ".." + number + ")", median, min, max);
  }
}
