// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.TcpTime;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * An executor that this one reads from: its connection, the fetches that wait for it, and the
 * {@link WaitBudget} of these waits. When the budget is spent, its blocks use TCP: only time ends
 * this quarantine. Confined to the agent.
 */
final class Peer {
  private static final long FIRST_RETRY_NS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long MAX_RETRY_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /** A peer that delivers is well so long after a wait in vain, such as one pause of its JVM. */
  private static final long PAUSED_NS = TimeUnit.SECONDS.toNanos(2);

  /** The same at most: it doubles with a wait in vain soon after it was well again. */
  private static final long MAX_PAUSED_NS = TimeUnit.SECONDS.toNanos(10);

  /** One that was well for so long has paused once. */
  private static final long APART_NS = TimeUnit.SECONDS.toNanos(5);

  /** Of as many slow results one is compared with TCP. */
  private static final int PROBE_PART = 16;

  /** A request that waits for a connection, with its blocks from an index on. */
  private record Waiting(FetchRequest request, int from, long sinceNs, WaitBudget budget) {}

  private final Endpoint endpoint;
  private final WaitBudget waits;
  private final WaitBudget firstConnections;
  private ArrayDeque<Waiting> waiting = new ArrayDeque<>();

  /** An attempt or an established one; null without. */
  private FetchConnection connection;

  private boolean everConnected;

  /** Whether a fetch has waited in vain for the attempt, which goes on: others use TCP. */
  private boolean waitedInVain;

  /** The shortest wait that makes sense now, where that is longer than for other peers. */
  private long neededNs;

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

  /** Time of the last fetch. */
  private long wantedNs;

  /** Attempts that have failed: the next one uses other addresses. */
  private int failedAttempts;

  private boolean mustConnect;
  private long retryPauseNs;
  private long retryNs;

  /**
   * @param all what waits for peers may cost together
   * @param firstConnections what waits for first connections may cost together
   */
  Peer(Endpoint endpoint, WaitBudget all, WaitBudget firstConnections) {
    this.endpoint = endpoint;
    this.waits = WaitBudget.ofPeer(all);
    this.firstConnections = firstConnections;
  }

  Endpoint endpoint() {
    return endpoint;
  }

  // Waits.

  /** The longest wait for it that may begin now; 0 when its blocks use TCP. */
  long limitNs(long nowNs) {
    long limitNs = budgetNs(nowNs);
    // Others have spent what all peers have: one that delivers is read from all the same.
    boolean isRead = limitNs == 0 && !isQuarantined(nowNs) && isWell(nowNs);
    return isRead ? WaitBudget.CHECK_NS : limitNs;
  }

  /** The same by the budgets alone. */
  private long budgetNs(long nowNs) {
    long limitNs = waits.limitNs(nowNs);
    return limitNs < neededNs ? 0 : limitNs;
  }

  private boolean isWell(long nowNs) {
    return everConnected
        && (!hadVainWait || (resultNs - vainWaitNs >= 0 && nowNs - vainWaitNs >= wellAfterNs));
  }

  /** Whether a wait for its answer or its READs is over. */
  boolean isOver(long sinceNs, long nowNs) {
    return waits.restNs(sinceNs, nowNs) <= 0
        && (nowNs - sinceNs >= WaitBudget.CHECK_NS || !isWell(nowNs));
  }

  /** A wait was in vain; returns what others have not spent of it. */
  long inVain(long sinceNs, long nowNs) {
    return inVain(waits, sinceNs, nowNs);
  }

  private long inVain(WaitBudget budget, long sinceNs, long nowNs) {
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
    return waits.freeNs();
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
    if (tcp.lengthNs() > 0) {
      waits.onSlowResult(sinceNs + Math.max(waits.freeNs(), 2 * tcp.lengthNs()), nowNs);
    }
    return slowResults++ % PROBE_PART == 0;
  }

  /** A READ of it is done. */
  void onResult(long nowNs) {
    readSince = true;
    delivered = true;
    resultNs = nowNs;
    neededNs = 0;
    waits.onResult(nowNs);
  }

  /** All that was begun before it made no progress has ended: one that had delivered has paused. */
  void onRecovered(long nowNs) {
    if (readBefore) {
      resultNs = nowNs;
    }
  }

  /** It has answered, though without room or an end. */
  void onAnswer(long nowNs) {
    if (delivered) {
      resultNs = nowNs;
    }
  }

  /** A fault for which nobody has waited: connections that fail at once have an end, too. */
  void onFault(long nowNs) {
    waits.penalize(WaitBudget.CHECK_NS, nowNs);
  }

  /** Its data are corrupt. */
  void onCorruptData(long nowNs) {
    waits.penalize(WaitBudget.PEER_NS, nowNs);
  }

  /**
   * What was waited for has come after this time. Where a longer wait has it, a shorter one would
   * be in vain, and spend what is earned for the longer one.
   */
  void needLongWait(long afterNs) {
    if (afterNs < waits.capacityNs()) {
      neededNs = Math.min(waits.capacityNs(), afterNs + afterNs / 4);
    }
  }

  /** Whether its budget is spent. */
  boolean isQuarantined(long nowNs) {
    return waits.ownLimitNs(nowNs) < Math.max(1, neededNs);
  }

  // Fetches that wait for a connection.

  /** Blocks of it are fetched, perhaps by TCP. */
  void onWanted(long nowNs) {
    wantedNs = nowNs;
  }

  /** Whether an attempt to connect makes sense: fetches wait, or the last one came lately. */
  boolean isWanted(long nowNs) {
    return hasWaiting() || nowNs - wantedNs < WaitBudget.PEER_NS;
  }

  /** Whether fetches wait for a connection. */
  boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /**
   * Whether a fetch may wait for a connection now; otherwise it uses TCP. When others have spent
   * what all peers have, also one that delivers is connected to beside TCP.
   */
  boolean mayWait(long nowNs) {
    return !waitedInVain && (budgetNs(nowNs) > 0 || mayWaitFirst(nowNs));
  }

  private boolean mayWaitFirst(long nowNs) {
    return !everConnected && !isQuarantined(nowNs) && firstConnections.limitNs(nowNs) > 0;
  }

  /** Whether a fetch waited in vain for the attempt that goes on. */
  boolean hasWaitedInVain() {
    return waitedInVain;
  }

  /** The fetch waits for a connection. */
  void add(FetchRequest request, int from, long nowNs) {
    WaitBudget budget = mayWaitFirst(nowNs) ? firstConnections : waits;
    waiting.add(new Waiting(request, from, nowNs, budget));
  }

  /** The fetches that wait begin, while the connection is usable. */
  void fetchWaiting(long nowNs) {
    while (!waiting.isEmpty() && connection.isUsable()) {
      Waiting next = waiting.poll();
      connection.fetch(next.request, next.from, nowNs);
    }
  }

  /** The fetches that wait use TCP, in vain; returns what others have not spent of their waits. */
  long leaveWaitingToTcp(FallbackReason reason, String detail, long nowNs) {
    long costNs = 0;
    while (!waiting.isEmpty()) {
      costNs += leaveFirstToTcp(reason, detail, nowNs);
    }
    return costNs;
  }

  /** The same for those that have waited for so long as they may. */
  long leaveLateToTcp(long maxNs, long nowNs) {
    long costNs = 0;
    while (!waiting.isEmpty() && isLate(waiting.peek(), maxNs, nowNs)) {
      costNs += leaveFirstToTcp(FallbackReason.CONNECT_FAILED, "no connection in time", nowNs);
      waitedInVain = connection != null;
    }
    return costNs;
  }

  private boolean isLate(Waiting first, long maxNs, long nowNs) {
    boolean over =
        first.budget == waits
            ? isOver(first.sinceNs, nowNs)
            : first.budget.restNs(first.sinceNs, nowNs) <= 0;
    return over || nowNs - first.sinceNs > maxNs;
  }

  private long leaveFirstToTcp(FallbackReason reason, String detail, long nowNs) {
    Waiting first = waiting.poll();
    long costNs = costNs(first, reason, nowNs);
    first.request.leaveRestToTcp(first.from, reason, detail);
    return costNs;
  }

  /** A shortage of this executor, or a slow device, says nothing about the peer. */
  private long costNs(Waiting first, FallbackReason reason, long nowNs) {
    if (reason == FallbackReason.POOL_EMPTY) {
      return 0;
    }
    boolean here = connection == null ? waitsForItsTurn() : connection.isHeldUpHere();
    return here
        ? first.budget.inVainHere(first.sinceNs, nowNs)
        : inVain(first.budget, first.sinceNs, nowNs);
  }

  /** This executor itself was late: nobody has waited for the peer meanwhile. */
  void onLate(long lateNs) {
    ArrayDeque<Waiting> later = new ArrayDeque<>();
    for (Waiting one : waiting) {
      later.add(new Waiting(one.request, one.from, one.sinceNs + lateNs, one.budget));
    }
    waiting = later;
  }

  // Connection.

  FetchConnection connection() {
    return connection;
  }

  /** An attempt begins. */
  void beginAttempt(FetchConnection attempt) {
    connection = attempt;
  }

  /** Its connection is established. */
  void onEstablished(long nowNs) {
    waitedInVain = false;
    needsNoConnection();
    everConnected = true;
    delivered = false;
    if (!wasBarren) {
      resultNs = nowNs;
    }
  }

  /** The attempt has failed. */
  void onFailed() {
    connection = null;
    waitedInVain = false;
  }

  /** Its connection has ended. */
  void onBroken(boolean ofFault) {
    onFailed();
    wasBarren = ofFault && !delivered;
  }

  int failedAttempts() {
    return failedAttempts;
  }

  void countFailedAttempt() {
    failedAttempts++;
  }

  /** Whether an attempt is due now. */
  boolean mustConnect(long nowNs) {
    return mustConnect && connection == null && nowNs - retryNs >= 0;
  }

  /** Whether it waits for an attempt. */
  boolean waitsForAttempt() {
    return mustConnect && connection == null;
  }

  /** Whether that is its first one, which only others of this executor hold up. */
  private boolean waitsForItsTurn() {
    return waitsForAttempt() && retryPauseNs == FIRST_RETRY_NS;
  }

  /** An attempt is due now. */
  void requestConnection(long nowNs) {
    if (!mustConnect) {
      mustConnect = true;
      retryPauseNs = FIRST_RETRY_NS;
      retryNs = nowNs;
    }
  }

  /** The peer or this executor has no room now: the next attempt follows after a pause. */
  void retryLater(long nowNs) {
    mustConnect = true;
    retryPauseNs = Math.max(FIRST_RETRY_NS, Math.min(2 * retryPauseNs, MAX_RETRY_NS));
    // Readers that were rejected together come again apart.
    retryNs =
        nowNs + retryPauseNs / 2 + Math.floorMod(endpoint.incarnation() + nowNs, retryPauseNs);
  }

  void needsNoConnection() {
    mustConnect = false;
  }

  /** Whether nothing must be remembered of it. */
  boolean isUnused(long nowNs) {
    return connection == null
        && !mustConnect
        && waiting.isEmpty()
        && waits.ownLimitNs(nowNs) == waits.capacityNs();
  }
}
