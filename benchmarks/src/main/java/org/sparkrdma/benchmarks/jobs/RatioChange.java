// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;

/**
 * Change of one ratio between two reports or two commits. Only ratios are compared, because
 * absolute times of two machines, or of one machine at two times, cannot be.
 *
 * @param base median and quartiles of the ratio in the first
 * @param head likewise, in the second
 */
public record RatioChange(
    String shape,
    String ratio,
    String metric,
    Quartiles base,
    Quartiles head,
    Verdict verdict,
    List<Double> baseValues,
    List<Double> headValues) {
  /** The meaning of a verdict, for users. */
  public static final String RULE =
      "A ratio is worse or better when its values differ so much that chance does it to at most 1 in"
          + " 100 ratios of equal systems (rank-sum test). Load that lasted for the whole of one run is"
          + " not chance. Five values of each are enough for a verdict; with fewer of one, the other"
          + " needs more.";

  /**
   * The changes of the ratios that both have.
   *
   * @param base ratios of one report or of several runs
   * @param head likewise
   */
  public static List<RatioChange> of(
      List<Map<MeasuredRatio, MeasuredRatio.Values>> base,
      List<Map<MeasuredRatio, MeasuredRatio.Values>> head) {
    List<RatioChange> changes = new ArrayList<>();
    for (MeasuredRatio one :
        base.stream().flatMap(run -> run.keySet().stream()).distinct().toList()) {
      List<Double> before = values(one, base);
      List<Double> after = values(one, head);
      if (!after.isEmpty()) {
        changes.add(
            new RatioChange(
                one.shape(),
                one.ratio(),
                one.metric(),
                Quartiles.of(before, Double::doubleValue),
                Quartiles.of(after, Double::doubleValue),
                Verdict.of(before, after, one.lessIsBetter()),
                before,
                after));
      }
    }
    return changes;
  }

  private static List<Double> values(
      MeasuredRatio ratio, List<Map<MeasuredRatio, MeasuredRatio.Values>> runs) {
    return runs.stream()
        .filter(run -> run.containsKey(ratio))
        .flatMap(run -> run.get(ratio).values().stream())
        .toList();
  }

  /** The changes as plain text. */
  public static String table(List<RatioChange> changes) {
    return new TextTable<RatioChange>()
        .text("shape", RatioChange::shape)
        .text("ratio", RatioChange::ratio)
        .text("metric", RatioChange::metric)
        .number("base", one -> one.base.format(2))
        .number("head", one -> one.head.format(2))
        .number("head / base", RatioChange::factor)
        .text("verdict", one -> one.verdict.toString())
        .of(changes);
  }

  private String factor() {
    return String.format(Locale.ROOT, "%.2f", head.median() / base.median());
  }

  /** Result of comparing one ratio of two systems. */
  public enum Verdict {
    WORSE,
    BETTER,
    WITHIN_SPREAD,
    /** No values of so few rounds could show a change. */
    TOO_FEW_ROUNDS;

    /** Part of the ratios of equal systems that may be called worse or better. */
    static final double ERROR_RATE = 0.01;

    /**
     * Compares rounds by {@link RankSum}: at most 1 in 100 ratios of equal systems is called worse
     * or better.
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
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /**
   * The rank-sum test of Wilcoxon, Mann and Whitney with ties, exact up to {@link #MAX_EXACT}
   * values and by the normal distribution for more: how often chance alone separates two groups of
   * values at least as far. It assumes nothing about the values except that, if nothing changed,
   * each could as well be in the other group.
   *
   * @param chance from 0 to 1, both directions together
   * @param secondIsHigher whether the second group has the higher ranks
   */
  record RankSum(double chance, boolean secondIsHigher) {
    /** Takes a second and 32 MB; time grows with the fourth power, memory with the third. */
    static final int MAX_EXACT = 200;

    /**
     * Judges two groups.
     *
     * @param first without NaN
     * @param second without NaN
     */
    static RankSum of(List<Double> first, List<Double> second) {
      return first.size() + second.size() > MAX_EXACT
          ? approximate(first, second)
          : exact(first, second);
    }

    /** By the normal distribution with the variance of the ranks. */
    static RankSum approximate(List<Double> first, List<Double> second) {
      double count = first.size() + second.size();
      int[] twiceRanks = twiceRanks(first, second);
      long sum = Arrays.stream(twiceRanks, 0, first.size()).sum();
      double mean = first.size() * (count + 1);
      double squares =
          Arrays.stream(twiceRanks)
              .mapToDouble(rank -> rank - count - 1)
              .map(one -> one * one)
              .sum();
      double deviation = Math.sqrt(first.size() * second.size() / (count * (count - 1)) * squares);
      // Half a rank nearer, because ranks are whole; all values may be equal.
      double distance = Math.max(0, Math.abs(sum - mean) - 1);
      return new RankSum(distance == 0 ? 1 : tails(distance / deviation), sum < mean);
    }

    /** Both tails of the normal distribution: 7.1.26 of Abramowitz and Stegun, right to 2e-7. */
    private static double tails(double deviations) {
      double x = deviations / Math.sqrt(2);
      double t = 1 / (1 + 0.3275911 * x);
      double series =
          t
              * (0.254829592
                  + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
      return series * Math.exp(-x * x);
    }

    private static RankSum exact(List<Double> first, List<Double> second) {
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
      double[] values =
          Stream.of(first, second).flatMap(List::stream).mapToDouble(Double::doubleValue).toArray();
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
}
