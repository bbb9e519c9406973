// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.concurrent.TimeUnit;

/**
 * How long may be waited for something that perhaps never comes, while TCP would do. The clock
 * alone earns time, and waits in vain spend it. Waits at the same time spend it once; waits that
 * end with a result are free as far as they are usual, and earn nothing. So in any time T, waits in
 * vain cost at most the capacity and T / 50, whatever the pattern of a fault; but a peer that
 * delivers is read from beside an empty budget of all. A budget may have a parent, which all waits
 * of its children spend, too. {@link WaitBudgets} has those that there are. Confined to one thread,
 * for an executor's reads to the agent.
 */
public final class WaitBudget {
  /** Waits are checked so often: they exceed their limits by no more than that. */
  public static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(20);

  /** A wait may begin, or its check may come, so late. */
  private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** A wait for a peer that has a result is free for so long, with a factor of 1. */
  private static final long FREE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Part of the time that is earned. */
  private static final int PART = 50;

  /**
   * The same after a second wait in vain without a result in between: the shortest wait for a peer
   * is earned in a minute, with what the last one was too long.
   */
  private static final int SLOW_PART = 500;

  private final long capacityNs;
  private final long leastNs;
  private final boolean earns;
  private final WaitBudget parent;

  /** Factor of the capacities of its children. */
  final int factor;

  /** Less than nothing after a wait that was longer than its limit, by a tick at most. */
  private long leftNs;

  private boolean begun;
  private long earnedNs;

  /** The time that was spent last; none before the first wait in vain. */
  private long spentFromNs;

  private long spentToNs;

  /** Waits in vain since the last result. */
  private int fruitless;

  /**
   * @param leastMs the shortest wait that makes sense
   * @param parent null without
   */
  public WaitBudget(long capacityMs, long leastMs, WaitBudget parent) {
    this(capacityMs, leastMs, true, parent, parent == null ? 1 : parent.factor);
  }

  /**
   * @param factor of the capacities of its children, and of its own
   */
  WaitBudget(long capacityMs, long leastMs, boolean earns, WaitBudget parent, int factor) {
    this.capacityNs = factor * TimeUnit.MILLISECONDS.toNanos(capacityMs);
    this.leastNs = TimeUnit.MILLISECONDS.toNanos(leastMs);
    this.earns = earns;
    this.parent = parent;
    this.factor = factor;
    this.leftNs = capacityNs;
  }

  /** The longest wait that may begin now; 0 when nothing may wait. */
  public long limitNs(long nowNs) {
    earn(nowNs);
    long limitNs = parent == null ? leftNs : Math.min(leftNs, parent.limitNs(nowNs));
    return limitNs < leastNs ? 0 : Math.max(0, limitNs);
  }

  /** The same for its own part, whatever its parent has left. */
  public long ownLimitNs(long nowNs) {
    earn(nowNs);
    return leftNs < leastNs ? 0 : leftNs;
  }

  /** How much longer a wait may last; not more than 0 when it is over. */
  public long restNs(long sinceNs, long nowNs) {
    earn(nowNs);
    long restNs = leftNs - costNs(sinceNs, nowNs);
    return parent == null ? restNs : Math.min(restNs, parent.restNs(sinceNs, nowNs));
  }

  /** The part of a wait that others have not spent. */
  private long costNs(long sinceNs, long nowNs) {
    if (spentToNs == spentFromNs || sinceNs - spentToNs >= 0) {
      return nowNs - sinceNs;
    }
    return nowNs - spentToNs + Math.max(0, spentFromNs - sinceNs);
  }

  private void earn(long nowNs) {
    if (!begun) {
      begun = true;
      earnedNs = nowNs;
    } else if (earns) {
      int part = fruitless > 1 ? SLOW_PART : PART;
      long parts = (nowNs - earnedNs) / part;
      leftNs = Math.min(capacityNs, leftNs + parts);
      earnedNs += parts * part;
    }
  }

  /**
   * A wait has ended without what it waited for.
   *
   * @return the part of it that no other wait had spent
   */
  public long inVain(long sinceNs, long nowNs) {
    return spend(sinceNs, nowNs, 1);
  }

  /** How long a wait may take that has a result and is free. */
  public long freeNs() {
    return factor * FREE_NS;
  }

  /**
   * A wait has ended with what it waited for: what was not free is spent.
   *
   * @param sinceNs begin of what was not free; later than now where all was
   */
  public void onSlowResult(long sinceNs, long nowNs) {
    spend(sinceNs, nowNs, 0);
  }

  /** What all waits have together: only that is spent where the reason is on this side. */
  public WaitBudget ofAll() {
    return parent == null ? this : parent.ofAll();
  }

  private long spend(long sinceNs, long nowNs, int vain) {
    earn(nowNs);
    long costNs = costNs(sinceNs, nowNs);
    if (costNs > 0) {
      boolean apart = spentToNs == spentFromNs || sinceNs - spentToNs >= 0;
      spentFromNs = apart || spentFromNs - sinceNs > 0 ? sinceNs : spentFromNs;
      spentToNs = nowNs;
      leftNs = Math.max(-TICK_NS, leftNs - costNs);
      fruitless += vain;
    }
    if (parent != null) {
      parent.spend(sinceNs, nowNs, vain);
    }
    return Math.max(0, costNs);
  }

  /** Something has come that is waited for. */
  public void onResult(long nowNs) {
    if (fruitless > 0) {
      earn(nowNs);
      fruitless = 0;
    }
    if (parent != null) {
      parent.onResult(nowNs);
    }
  }

  /** Takes time as a penalty, for which nobody has waited: its parent keeps it. */
  public void penalize(long lengthNs, long nowNs) {
    earn(nowNs);
    leftNs = Math.min(leftNs, Math.max(0, leftNs - lengthNs));
  }

  /** The most that it can have. */
  public long capacityNs() {
    return capacityNs;
  }
}
