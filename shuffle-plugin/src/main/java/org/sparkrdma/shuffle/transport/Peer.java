// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.fetch.WaitBudgets;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * An executor that this one reads from: its connection, the next attempt to connect, and the
 * fetches that wait for it. {@link PeerHealth} has what these and all other waits for it may cost.
 * Confined to the agent.
 */
final class Peer {
  private static final long FIRST_RETRY_NS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long MAX_RETRY_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /** A request that waits for a connection, with its blocks from an index on. */
  private record Waiting(FetchRequest request, int from, long sinceNs, WaitBudget budget) {}

  private final Endpoint endpoint;
  private final PeerHealth health;
  private ArrayDeque<Waiting> waiting = new ArrayDeque<>();

  /** An attempt or an established one; null without. */
  private FetchConnection connection;

  /** Whether a fetch has waited in vain for the attempt, which goes on: others use TCP. */
  private boolean waitedInVain;

  /** Time of the last fetch. */
  private long wantedNs;

  /** Begin of the last attempt. */
  private long attemptNs;

  /** Attempts that have failed: the next one uses other addresses. */
  private int failedAttempts;

  private boolean mustConnect;
  private long retryPauseNs;
  private long retryNs;

  Peer(Endpoint endpoint, PeerHealth health) {
    this.endpoint = endpoint;
    this.health = health;
  }

  Endpoint endpoint() {
    return endpoint;
  }

  /** What waits for it may cost, and whether it is in quarantine. */
  PeerHealth health() {
    return health;
  }

  // Fetches that wait for a connection.

  /** Blocks of it are fetched, perhaps by TCP. */
  void onWanted(long nowNs) {
    wantedNs = nowNs;
  }

  /** Whether an attempt to connect makes sense: fetches wait, or the last one came lately. */
  boolean isWanted(long nowNs) {
    return hasWaiting() || nowNs - wantedNs < WaitBudgets.PEER_NS;
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
    return !waitedInVain && health.mayWaitForConnection(nowNs);
  }

  /** Whether a fetch waited in vain for the attempt that goes on. */
  boolean hasWaitedInVain() {
    return waitedInVain;
  }

  /** The fetch waits for a connection. */
  void add(FetchRequest request, int from, long nowNs) {
    waiting.add(new Waiting(request, from, nowNs, health.budgetOfConnection(nowNs)));
  }

  /** The fetches that wait begin, while the connection is usable. */
  void fetchWaiting(long nowNs) {
    while (!waiting.isEmpty() && connection.isUsable()) {
      Waiting next = waiting.poll();
      health.onFetchConnected(next.budget, next.sinceNs, attemptNs, nowNs);
      connection.fetch(next.request, next.from, nowNs);
    }
  }

  /** The fetches that wait use TCP, in vain; returns what others have not spent of their health. */
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
    return health.isOver(first.budget, first.sinceNs, nowNs) || nowNs - first.sinceNs > maxNs;
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
        ? first.budget.ofAll().inVain(first.sinceNs, nowNs)
        : health.inVain(first.budget, first.sinceNs, nowNs);
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
  void beginAttempt(FetchConnection attempt, long nowNs) {
    connection = attempt;
    attemptNs = nowNs;
  }

  /** Its connection is established. */
  void onEstablished(long nowNs) {
    waitedInVain = false;
    needsNoConnection();
    health.onConnected(nowNs);
  }

  /** The attempt has failed. */
  void onFailed() {
    connection = null;
    waitedInVain = false;
  }

  /** Its connection has ended. */
  void onBroken(boolean ofFault) {
    onFailed();
    health.onDisconnected(ofFault);
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

  /** The peer has no room now: the next attempt follows after a pause. */
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
    return connection == null && !mustConnect && waiting.isEmpty() && health.isUnspent(nowNs);
  }
}
