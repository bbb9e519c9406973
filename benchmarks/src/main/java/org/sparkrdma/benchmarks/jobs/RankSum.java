// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.Arrays;
import java.util.List;

/**
 * The rank-sum test of Wilcoxon, Mann and Whitney, exact and with ties: how often chance alone
 * separates two groups of values at least as far. It assumes nothing about the values except that,
 * if nothing changed, each could as well be in the other group.
 *
 * @param chance from 0 to 1, both directions together
 * @param secondIsHigher whether the second group has the higher ranks
 */
record RankSum(double chance, boolean secondIsHigher) {
  /**
   * Takes time with the fourth power of the number of values: a second for 200 of them.
   *
   * @param first without NaN
   * @param second without NaN
   */
  static RankSum of(List<Double> first, List<Double> second) {
    int count = first.size() + second.size();
    int[] twiceRanks = twiceRanks(first, second);
    int sum = Arrays.stream(twiceRanks, 0, first.size()).sum();
    int mean = first.size() * (count + 1);
    int distance = Math.abs(sum - mean);
    double[] subsets = subsetsBySum(twiceRanks, first.size());
    double asFar = 0;
    double all = 0;
    for (int other = 0; other < subsets.length; other++) {
      all += subsets[other];
      asFar += Math.abs(other - mean) >= distance ? subsets[other] : 0;
    }
    return new RankSum(asFar / all, sum < mean);
  }

  /** The smallest chance that groups of these sizes can have, both at least 1. */
  static double smallestChance(int first, int second) {
    double subsets = 1;
    for (int i = 1; i <= first; i++) {
      subsets *= (double) (second + i) / i;
    }
    return Math.min(1, 2 / subsets);
  }

  /** Ranks from 1 of the first group, then of the second; equal values share their mean rank. */
  private static int[] twiceRanks(List<Double> first, List<Double> second) {
    double[] values = new double[first.size() + second.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = i < first.size() ? first.get(i) : second.get(i - first.size());
    }
    int[] twiceRanks = new int[values.length];
    for (int i = 0; i < values.length; i++) {
      int below = 0;
      int equal = 0;
      for (double other : values) {
        below += other < values[i] ? 1 : 0;
        equal += other == values[i] ? 1 : 0;
      }
      twiceRanks[i] = 2 * below + equal + 1;
    }
    return twiceRanks;
  }

  /** Number of the subsets of {@code size} ranks that have each sum. */
  private static double[] subsetsBySum(int[] twiceRanks, int size) {
    int highest = Arrays.stream(twiceRanks).sum();
    double[][] bySize = new double[size + 1][highest + 1];
    bySize[0][0] = 1;
    for (int rank : twiceRanks) {
      for (int taken = size; taken > 0; taken--) {
        for (int sum = highest; sum >= rank; sum--) {
          bySize[taken][sum] += bySize[taken - 1][sum - rank];
        }
      }
    }
    return bySize[size];
  }
}
