// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.fetch.TcpTime;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.fetch.WaitBudgets;

/**
 * Whether a {@link Peer} is well, and what waits for it may cost, by its {@link WaitBudget}. When
 * that is spent, the peer is in quarantine: its blocks use TCP. Only time refills the budget, by a
 * fiftieth of what passes, and after a second wait in vain by a five-hundredth, so it takes about 5
 * or 50 s until another wait makes sense. Confined to the agent.
 */
final class PeerHealth {
  /** A peer that delivers is well so long after a wait in vain, such as one pause of its JVM. */
  private static final long PAUSED_NS = TimeUnit.SECONDS.toNanos(2);

  /** The same at most: it doubles with a wait in vain soon after it was well again. */
  private static final long MAX_PAUSED_NS = TimeUnit.SECONDS.toNanos(10);

  /** One that was well for so long has paused once. */
  private static final long APART_NS = TimeUnit.SECONDS.toNanos(5);

  /** Of as many slow results one is compared with TCP. */
  private static final int PROBE_PART = 16;

  private final WaitBudget own;
  private final WaitBudget firstConnections;

  private boolean everConnected;

  /** The shortest wait that makes sense now, where that is longer than for other peers. */
  private long neededNs;

  /** Not 0 until two READs after a slow result or a pause. */
  private int slow;

  /** What its slow results are compared with. */
  private final TcpTime tcp = new TcpTime();

  private int slowResults;
  private long resultNs;
  private boolean hadVainWait;
  private long vainWaitNs;

  /** The time after its last wait in vain until it is well, if it delivers. */
  private long wellAfterNs;

  /** Whether a READ was done since the last wait in vain, and before that. */
  private boolean readSince;

  private boolean readBefore;

  /** Whether its connection has delivered in time. */
  private boolean delivered;

  /** Whether the connection before it has ended by a fault without that. */
  private boolean wasBarren;

  /**
   * @param all what waits for peers may cost together
   * @param firstConnections what waits for first connections may cost together
   */
  PeerHealth(WaitBudget all, WaitBudget firstConnections) {
    this.own = WaitBudgets.ofPeer(all);
    this.firstConnections = firstConnections;
  }

  /** The longest wait for it that may begin now; 0 when its blocks use TCP. */
  long limitNs(long nowNs) {
    long limitNs = budgetNs(nowNs);
    // Others have spent what all peers have: one that delivers is read from all the same.
    boolean isRead = limitNs == 0 && !isQuarantined(nowNs) && isWell(nowNs);
    return isRead ? WaitBudget.CHECK_NS : limitNs;
  }

  /** The same by the budgets alone. */
  private long budgetNs(long nowNs) {
    long limitNs = own.limitNs(nowNs);
    return limitNs < neededNs ? 0 : limitNs;
  }

  private boolean isWell(long nowNs) {
    return everConnected
        && (!hadVainWait || (resultNs - vainWaitNs >= 0 && nowNs - vainWaitNs >= wellAfterNs));
  }

  /** Whether a wait for its answer or its READs is over. */
  boolean isOver(long sinceNs, long nowNs) {
    return own.restNs(sinceNs, nowNs) <= 0
        && (nowNs - sinceNs >= WaitBudget.CHECK_NS || !isWell(nowNs));
  }

  /** The same of a budget that {@link #budgetOfConnection} has named. */
  boolean isOver(WaitBudget budget, long sinceNs, long nowNs) {
    return budget == own ? isOver(sinceNs, nowNs) : budget.restNs(sinceNs, nowNs) <= 0;
  }

  /** A wait was in vain; returns what others have not spent of it. */
  long inVain(long sinceNs, long nowNs) {
    return inVain(own, sinceNs, nowNs);
  }

  /** The same of a budget that {@link #budgetOfConnection} has named. */
  long inVain(WaitBudget budget, long sinceNs, long nowNs) {
    long wellNs = nowNs - vainWaitNs - wellAfterNs;
    if (!hadVainWait || wellNs >= APART_NS) {
      wellAfterNs = PAUSED_NS;
    } else if (nowNs - vainWaitNs >= PAUSED_NS && wellNs < PAUSED_NS) {
      wellAfterNs = Math.min(2 * wellAfterNs, MAX_PAUSED_NS);
    }
    if (readSince || !hadVainWait || nowNs - vainWaitNs >= PAUSED_NS) {
      readBefore = readSince;
      readSince = false;
    }
    hadVainWait = true;
    vainWaitNs = nowNs;
    return budget.inVain(sinceNs, nowNs);
  }

  /** How long its answers and READs may take without a charge. */
  long freeNs() {
    return own.freeNs();
  }

  /** How long its blocks take by TCP. */
  TcpTime tcp() {
    return tcp;
  }

  /**
   * An answer or READ has come after a longer wait. What exceeds twice the time that TCP takes is
   * spent; a block in {@value #PROBE_PART} such results shows that time.
   *
   * @return whether a block shall use TCP, to show how long that takes
   */
  boolean onSlowResult(long sinceNs, long nowNs) {
    needLongWait(nowNs - sinceNs);
    slow = 2;
    if (tcp.lengthNs() > 0) {
      own.onSlowResult(sinceNs + Math.max(own.freeNs(), 2 * tcp.lengthNs()), nowNs);
    }
    return slowResults++ % PROBE_PART == 0;
  }

  /** A READ of it is done. */
  void onResult(long nowNs) {
    readSince = true;
    delivered = true;
    resultNs = nowNs;
    neededNs = 0;
    slow /= 2;
    own.onResult(nowNs);
  }

  /**
   * All that was begun before it made no progress has ended: one that had delivered has paused. One
   * that was slow before needs longer waits.
   */
  void onRecovered(long sinceNs, long nowNs) {
    if (readBefore) {
      resultNs = nowNs;
    }
    if (slow > 0) {
      needLongWait(nowNs - sinceNs);
    }
    slow = 2;
  }

  /** It has answered, though without room or an end. */
  void onAnswer(long nowNs) {
    if (delivered) {
      resultNs = nowNs;
    }
  }

  /** A fault for which nobody has waited: connections that fail at once have an end, too. */
  void onFault(long nowNs) {
    own.penalize(WaitBudget.CHECK_NS, nowNs);
  }

  /** Its data are corrupt. */
  void onCorruptData(long nowNs) {
    own.penalize(WaitBudgets.PEER_NS, nowNs);
  }

  /**
   * What was waited for has come after this time. Where a longer wait has it, a shorter one would
   * be in vain, and spend what is earned for the longer one.
   */
  private void needLongWait(long afterNs) {
    if (afterNs < own.capacityNs()) {
      neededNs = Math.min(own.capacityNs(), afterNs + afterNs / 4);
    }
  }

  /** Whether its budget is spent. */
  boolean isQuarantined(long nowNs) {
    return own.ownLimitNs(nowNs) < Math.max(1, neededNs);
  }

  // Of its connection.

  /** Whether a wait for a connection may begin now. */
  boolean mayWaitForConnection(long nowNs) {
    return budgetNs(nowNs) > 0 || mayWaitFirst(nowNs);
  }

  /** The budget of such a wait. */
  WaitBudget budgetOfConnection(long nowNs) {
    return mayWaitFirst(nowNs) ? firstConnections : own;
  }

  /**
   * A fetch has its connection after a wait: as with answers, what was not free is spent. First
   * connections take long where many begin at once, and cost no more than their budget. A wait for
   * the turn of the attempt says nothing about the peer.
   *
   * @param attemptNs begin of the attempt
   */
  void onFetchConnected(WaitBudget budget, long sinceNs, long attemptNs, long nowNs) {
    if (budget == own) {
      long spentNs = sinceNs + own.freeNs();
      WaitBudget spent = attemptNs - spentNs > 0 ? own.ofAll() : own;
      spent.onSlowResult(spentNs, nowNs);
    }
  }

  private boolean mayWaitFirst(long nowNs) {
    return !everConnected && !isQuarantined(nowNs) && firstConnections.limitNs(nowNs) > 0;
  }

  /** Its connection is established. */
  void onConnected(long nowNs) {
    everConnected = true;
    delivered = false;
    if (!wasBarren) {
      resultNs = nowNs;
    }
  }

  /** Its connection has ended. */
  void onDisconnected(boolean ofFault) {
    wasBarren = ofFault && !delivered;
  }

  /** Whether nothing of its budget is spent. */
  boolean isUnspent(long nowNs) {
    return own.ownLimitNs(nowNs) == own.capacityNs();
  }
}
