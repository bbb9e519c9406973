// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;

/** Result of comparing one ratio of two systems. */
public enum Verdict {
  WORSE("worse"),
  BETTER("better"),
  WITHIN_SPREAD("within spread"),
  /** No values of so few rounds could show a change. */
  TOO_FEW_ROUNDS("too few rounds");

  /** Part of the ratios of equal systems that may be called worse or better. */
  static final double ERROR_RATE = 0.01;

  private final String label;

  Verdict(String label) {
    this.label = label;
  }

  /**
   * Compares rounds by {@link RankSum}: at most 1 in 100 ratios of equal systems is called worse or
   * better.
   *
   * @param first values of the rounds, without NaN
   * @param second likewise; may be another number of rounds
   */
  static Verdict of(List<Double> first, List<Double> second, boolean lessIsBetter) {
    if (RankSum.smallestChance(first.size(), second.size()) > ERROR_RATE) {
      return TOO_FEW_ROUNDS;
    }
    RankSum ranks = RankSum.of(first, second);
    if (ranks.chance() > ERROR_RATE) {
      return WITHIN_SPREAD;
    }
    return ranks.secondIsHigher() == lessIsBetter ? WORSE : BETTER;
  }

  @JsonValue
  @Override
  public String toString() {
    return label;
  }
}
