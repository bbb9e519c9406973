// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.Arrays;
import java.util.List;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.soak.Sample.Measure;

/**
 * An executor that lived from the warm-up to the end, with its trends; with dynamic allocation also
 * the driver, and the Worker with the shuffle service.
 *
 * @param samples number of samples after the warm-up
 * @param trends one for each measure
 */
record LongLivedExecutor(String executor, int samples, List<Trend> trends) {
  /** Fraction of the soak in which classes are loaded and pools and arenas fill. */
  static final double WARM_UP_PART = 0.25;

  private static final int MIN_SAMPLES = 9;

  /**
   * Selects the executors that lived from the warm-up to the end.
   *
   * @param all samples of all executors, in the order of time
   * @param seconds duration of the soak
   */
  static List<LongLivedExecutor> of(List<Sample> all, double seconds) {
    double warmUpEnd = WARM_UP_PART * seconds;
    double lastRound = all.isEmpty() ? 0 : all.get(all.size() - 1).seconds();
    return all.stream()
        .map(Sample::executor)
        .distinct()
        .map(executor -> all.stream().filter(each -> each.executor().equals(executor)).toList())
        .filter(own -> own.get(0).seconds() <= warmUpEnd)
        .filter(own -> own.get(own.size() - 1).seconds() >= lastRound)
        .map(own -> own.stream().filter(each -> each.seconds() > warmUpEnd).toList())
        .filter(own -> own.size() >= MIN_SAMPLES)
        .map(LongLivedExecutor::judge)
        .toList();
  }

  private static LongLivedExecutor judge(List<Sample> own) {
    return new LongLivedExecutor(
        own.get(0).executor(),
        own.size(),
        Arrays.stream(Measure.values())
            .map(
                measure ->
                    Trend.of(
                        measure, own.stream().map(each -> each.values().get(measure)).toList()))
            .toList());
  }

  boolean isFlat() {
    return trends.stream().allMatch(Trend::isFlat);
  }

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
      List<Double> end = values.subList(values.size() - third, values.size());
      double first = Quartiles.of(values.subList(0, third), value -> value).median();
      double last = Quartiles.of(end, value -> value).median();
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
  }
}
