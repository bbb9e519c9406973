// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Budgets of waits, with time as a parameter. */
class WaitBudgetTest {
  private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long CAPACITY = 500 * MS;
  private static final long LEAST = 100 * MS;

  /** Close to the overflow of the clock, which may begin anywhere. */
  private static final long START = Long.MAX_VALUE - 300 * MS;

  private final WaitBudget budget = new WaitBudget(500, 100, null);

  /** A wait of the simulation; {@code endNs} is of one in vain. */
  private record Wait(int of, long sinceNs, long endNs) {}

  /** The time in which at least one of the waits was open, counted anew. */
  private static long unionNs(List<Wait> waits) {
    long sumNs = 0;
    long untilNs = Long.MIN_VALUE;
    for (Wait wait : waits.stream().sorted(Comparator.comparingLong(Wait::sinceNs)).toList()) {
      sumNs += Math.max(0, wait.endNs - Math.max(untilNs, wait.sinceNs));
      untilNs = Math.max(untilNs, wait.endNs);
    }
    return sumNs;
  }

  /** Whatever ends in vain, late or early, and for whom: nobody waits longer in sum. */
  @Test
  void shouldCostAtMostItsCapacityAndAFiftiethOfTheTimeWhateverThePattern() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      WaitBudget root = WaitBudgets.ofReader(1);
      WaitBudget peers = WaitBudgets.ofPeers(root);
      int count = 1 + random.nextInt(12);
      WaitBudget[] all = new WaitBudget[count + 2];
      Arrays.setAll(all, i -> WaitBudgets.ofPeer(peers));
      all[count] = WaitBudgets.ofMemory(root);
      all[count + 1] = WaitBudgets.ofFirstConnections(root);
      int vainPercent = random.nextInt(101);
      int startPercent = 1 + random.nextInt(100);
      long stepNs = (1 + random.nextInt(20)) * MS;
      List<Wait> vain = new ArrayList<>();
      List<Wait> open = new ArrayList<>();
      long lengthNs = TimeUnit.SECONDS.toNanos(1 + random.nextInt(120));
      for (long atNs = 0; atNs < lengthNs; atNs += stepNs) {
        long nowNs = START + atNs;
        for (Iterator<Wait> waits = open.iterator(); waits.hasNext(); ) {
          Wait wait = waits.next();
          WaitBudget of = all[wait.of];
          boolean ends = random.nextInt(10) == 0;
          boolean result = ends && random.nextInt(100) >= vainPercent;
          boolean over = ends || of.restNs(START + wait.sinceNs, nowNs) <= 0;
          if (result) {
            of.onResult(nowNs);
          } else if (over) {
            of.inVain(START + wait.sinceNs, nowNs);
            vain.add(new Wait(wait.of, wait.sinceNs, atNs));
          }
          if (over) {
            waits.remove();
          }
        }
        for (int i = 0; i < all.length; i++) {
          if (random.nextInt(100) < startPercent && all[i].limitNs(nowNs) > 0) {
            open.add(new Wait(i, atNs, -1));
          }
        }
      }
      String what = "seed " + seed;
      long moreNs = lengthNs / 50 + stepNs;
      assertThat(unionNs(vain)).as(what).isLessThanOrEqualTo(1_500 * MS + moreNs);
      for (int i = 0; i < all.length; i++) {
        int of = i;
        long ownNs = unionNs(vain.stream().filter(wait -> wait.of == of).toList());
        long earnedNs = i == count + 1 ? stepNs : moreNs;
        assertThat(ownNs).as(what).isLessThanOrEqualTo(all[i].capacityNs() + earnedNs);
      }
      List<Wait> ofPeers = vain.stream().filter(wait -> wait.of < count).toList();
      assertThat(unionNs(ofPeers)).as(what).isLessThanOrEqualTo(1_000 * MS + moreNs);
    }
  }

  @Test
  void shouldSpendWaitsAtTheSameTimeOnceInAnyOrderOfTheirEnds() {
    assertThat(budget.inVain(START + 50 * MS, START + 80 * MS)).isEqualTo(30 * MS);
    assertThat(budget.inVain(START, START + 100 * MS)).isEqualTo(70 * MS);
    assertThat(budget.inVain(START + 20 * MS, START + 100 * MS)).isZero();
    assertThat(budget.limitNs(START + 100 * MS)).isBetween(400 * MS, 401 * MS);
  }

  @Test
  void shouldAllowNoWaitThatIsShorterThanMakesSense() {
    budget.inVain(START, START + 450 * MS);
    assertThat(budget.limitNs(START + 450 * MS)).isZero();
    // A fiftieth of 2.5 s, beside what was left.
    assertThat(budget.limitNs(START + 3_100 * MS)).isGreaterThanOrEqualTo(LEAST);
  }

  /** Waits are ended at a tick, which may be late. */
  @Test
  void shouldEarnFirstWhatAWaitWasTooLongByLessThanATick() {
    budget.inVain(START, START + 590 * MS);
    assertThat(budget.limitNs(START + 9_900 * MS)).isZero();
    assertThat(budget.limitNs(START + 10_100 * MS)).isGreaterThanOrEqualTo(LEAST);
    budget.inVain(START + 11_000 * MS, START + 31_000 * MS);
    budget.onResult(START + 31_000 * MS);
    assertThat(budget.limitNs(START + 41_100 * MS)).as("no more").isGreaterThanOrEqualTo(LEAST);
  }

  @Test
  void shouldEarnSlowlyAfterASecondWaitInVainUntilThereIsAResult() {
    budget.inVain(START, START + 500 * MS);
    budget.inVain(START + 5_500 * MS, START + 5_600 * MS);
    assertThat(budget.limitNs(START + 50_000 * MS)).isZero();
    assertThat(budget.limitNs(START + 56_000 * MS)).isGreaterThanOrEqualTo(LEAST);
    budget.inVain(START + 56_000 * MS, START + 56_100 * MS);
    budget.onResult(START + 56_100 * MS);
    assertThat(budget.limitNs(START + 61_200 * MS)).isGreaterThanOrEqualTo(LEAST);
  }

  @Test
  void shouldEarnNoMoreThanItsCapacity() {
    assertThat(budget.limitNs(START)).isEqualTo(CAPACITY);
    assertThat(budget.limitNs(START + TimeUnit.HOURS.toNanos(1))).isEqualTo(CAPACITY);
  }

  /** Also where it is asked more often than it earns a nanosecond. */
  @Test
  void shouldEarnTheSameHoweverOftenItIsAsked() {
    budget.inVain(START, START + 500 * MS);
    for (int i = 1; i <= 500_000; i++) {
      budget.limitNs(START + 500 * MS + i * 17L);
    }
    budget.penalize(0, START + 500 * MS + 8_500_000);
    long restNs = budget.restNs(START + 508_500_000, START + 508_500_000);
    assertThat(restNs).isEqualTo(8_500_000 / 50);
  }

  @Test
  void shouldTakeAPenaltyFromItselfAlone() {
    WaitBudget parent = new WaitBudget(500, 0, null);
    WaitBudget child = new WaitBudget(500, 100, parent);
    child.penalize(CAPACITY, START);
    child.penalize(CAPACITY, START);
    assertThat(child.limitNs(START)).isZero();
    assertThat(parent.limitNs(START)).isEqualTo(CAPACITY);
    assertThat(child.limitNs(START + 5_000 * MS)).isEqualTo(LEAST);
  }

  @Test
  void shouldEndTheWaitsOfAllChildrenWhenTheirParentHasNothingLeft() {
    WaitBudget parent = new WaitBudget(500, 0, null);
    WaitBudget first = new WaitBudget(500, 100, parent);
    WaitBudget second = new WaitBudget(500, 100, parent);
    assertThat(second.restNs(START, START + 400 * MS)).isPositive();
    first.inVain(START + 10 * MS, START + 515 * MS);
    assertThat(second.restNs(START + 400 * MS, START + 515 * MS)).isNegative();
    assertThat(second.limitNs(START + 515 * MS)).isZero();
  }
}
