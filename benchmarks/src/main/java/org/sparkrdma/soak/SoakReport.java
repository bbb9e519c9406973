// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Result of a soak.
 *
 * @param vanilla whether it ran under Spark's own shuffle
 * @param settings settings that depend on the seed, by key
 * @param faults how often executors were stopped and killed
 * @param longLivedExecutors the executors that are judged
 */
@JsonPropertyOrder({"seed", "seconds", "vanilla", "flat", "answersRight"})
record SoakReport(
    long seed,
    double seconds,
    boolean vanilla,
    boolean growthJudged,
    Map<String, String> settings,
    Map<String, Integer> faults,
    SoakResult result,
    List<LongLivedExecutor> longLivedExecutors,
    List<Sample> samples) {

  @JsonProperty
  boolean flat() {
    return !longLivedExecutors.isEmpty()
        && longLivedExecutors.stream().allMatch(LongLivedExecutor::isFlat);
  }

  @JsonProperty
  boolean answersRight() {
    return result.objection() == null;
  }

  /** The plug-in's counters other than 0: sums of the last reading of each executor. */
  @JsonProperty
  Map<String, Long> counters() {
    Map<String, Long> sums = new TreeMap<>();
    result
        .counters()
        .values()
        .forEach(one -> one.forEach((label, count) -> sums.merge(label, count, Long::sum)));
    sums.values().removeIf(count -> count == 0);
    return sums;
  }

  /** The reason why the soak has failed, in one sentence. */
  Optional<String> objection() {
    if (!answersRight()) {
      return Optional.of("a job failed or gave a wrong answer: " + result.objection());
    }
    if (!growthJudged) {
      return Optional.empty();
    }
    if (longLivedExecutors.isEmpty()) {
      return Optional.of("no executor lived long enough to be judged: give more --minutes");
    }
    return flat()
        ? Optional.empty()
        : Optional.of("a measure of an executor is not flat, see GROWS in the table");
  }
}
