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
package org.sparkrdma.soak;

import java.util.List;

/**
 * How one measure of one executor went after the warm-up: the medians of the first and of the last
 * third of its samples.
 *
 * @param allowed by how much the last may be larger
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

  /** What became less is as good as what stayed; what is not judged is never in the way. */
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
