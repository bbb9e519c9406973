// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * State that this executor keeps about another executor. Owned by the agent.
 *
 * <p>At most one connection is established. In addition there may be one attempt of this executor
 * and connections being accepted; {@link Connector} decides which of them wins.
 */
final class Peer {
  private static final long FIRST_SHORT_RETRY_NS = 5_000_000;

  /** Together 315 ms. */
  private static final int MAX_SHORT_RETRIES = 6;

  private static final long FIRST_COLLISION_RETRY_NS = 20_000_000;
  private static final long MAX_COLLISION_RETRY_NS = 1_000_000_000;

  /** More doublings of the first time exceed the longest. */
  private static final int MAX_DOUBLINGS = 6;

  private final long incarnation;
  private final ArrayDeque<BlockProgress> pending = new ArrayDeque<>();
  private Endpoint endpoint;
  private PeerConnection attempt;
  private final Set<PeerConnection> accepting = new HashSet<>();

  /** Time since when a request of it has been accepted and not confirmed. */
  private long acceptingSinceNs;

  private PeerConnection established;
  private int generation;
  private boolean waiting;
  private boolean attempted;
  private int failedAttempts;
  private int shortRetries;

  /** The reason why the last one was needed; null without one since blocks wait. */
  private Refused refused;

  private int collisions;
  private long waitingSinceNs;
  private long retryAtNs;
  private final Quarantine quarantine = new Quarantine();
  private int corruptions;
  private long usedNs;

  /** An attempt that was not possible, or was rejected, without a failure of the peer. */
  record Refused(FallbackReason reason, String detail) {}

  Peer(long incarnation) {
    this.incarnation = incarnation;
  }

  long incarnation() {
    return incarnation;
  }

  /** Blocks that wait for a connection. */
  ArrayDeque<BlockProgress> pending() {
    return pending;
  }

  /** Its listener; null while this executor has only accepted connections from it. */
  Endpoint endpoint() {
    return endpoint;
  }

  void endpoint(Endpoint latest) {
    endpoint = latest;
  }

  PeerConnection attempt() {
    return attempt;
  }

  void attempt(PeerConnection ours) {
    attempt = ours;
    attempted = true;
  }

  /** Whether a request of it is being accepted. */
  boolean isAccepting() {
    return !accepting.isEmpty();
  }

  /** Whether it has a connection to this executor, or a request that is being accepted. */
  boolean hasConnectionOrRequest() {
    return established != null || isAccepting();
  }

  /** Adds a connection being accepted; {@link #forget} removes it. */
  void addAccepting(PeerConnection theirs, long nowNs) {
    if (accepting.isEmpty()) {
      acceptingSinceNs = nowNs;
    }
    accepting.add(theirs);
  }

  /** Whether a request of it is being accepted that may soon be confirmed. */
  private boolean mayConfirm(long nowNs) {
    return isAccepting() && nowNs - acceptingSinceNs < Acceptor.UNANSWERED_NS;
  }

  PeerConnection established() {
    return established;
  }

  /** A connection is established; both ends now have the same generation. */
  void established(PeerConnection made, int newGeneration) {
    established = made;
    generation = newGeneration;
    waiting = false;
    collisions = 0;
    quarantine.onConnection();
  }

  /** Number of connections with it so far, modulo 65536. */
  int generation() {
    return generation;
  }

  /** Whether the peer's generation is older than that of this executor. */
  boolean isBehind(int theirs) {
    return (short) (theirs - generation) < 0;
  }

  /** Records the time of the last use. */
  void touch(long nowNs) {
    usedNs = nowNs;
  }

  /** Whether no block was wanted from it, and it has no connection. */
  boolean isStranger() {
    return endpoint == null && attempt == null && accepting.isEmpty() && established == null;
  }

  /** Whether it has no connection or block and was unused for at least {@code unusedNs}. */
  boolean isUnused(long nowNs, long unusedNs) {
    return attempt == null
        && accepting.isEmpty()
        && established == null
        && !waiting
        && pending.isEmpty()
        && !isQuarantined(nowNs)
        && nowNs - usedNs >= unusedNs;
  }

  /** Removes a connection in any state. */
  void forget(PeerConnection gone) {
    if (attempt == gone) {
      attempt = null;
    }
    accepting.remove(gone);
    if (established == gone) {
      established = null;
    }
  }

  /** Starts the wait of blocks for a connection, if it has not started. */
  void startWaiting(long nowNs) {
    if (!waiting) {
      waiting = true;
      attempted = false;
      shortRetries = 0;
      refused = null;
      collisions = 0;
      waitingSinceNs = nowNs;
      retryAtNs = nowNs;
    }
  }

  void stopWaiting() {
    waiting = false;
  }

  /** An attempt failed; the next one goes to another address of it, if it has several. */
  void useNextAddress() {
    failedAttempts++;
  }

  /** Attempts that have failed, ever. */
  int failedAttempts() {
    return failedAttempts;
  }

  /** Whether an attempt was made since blocks wait. */
  boolean isAttempted() {
    return attempted;
  }

  boolean hasWaitedTooLong(long nowNs, long timeoutNs) {
    return waiting && nowNs - waitingSinceNs > timeoutNs;
  }

  /**
   * It refused an attempt because of an attempt of its own: attempts it again after 20 ms, 40 ms,
   * and so on, at most 1 s. Each attempt costs both ends a queue pair or a message while the
   * network loses messages.
   */
  void retryAfterCollision(long nowNs) {
    retryAtNs = nowNs + Math.min(FIRST_COLLISION_RETRY_NS << collisions, MAX_COLLISION_RETRY_NS);
    collisions = Math.min(collisions + 1, MAX_DOUBLINGS);
  }

  /** Whether an attempt collided since blocks wait. */
  boolean hasCollided() {
    return collisions > 0;
  }

  /**
   * An attempt was refused, which a retry may change soon: attempts it again after 5 ms, 10 ms, and
   * so on, while blocks wait.
   *
   * @return false when it was attempted often enough
   */
  boolean tryRetrySoon(long nowNs, Refused why) {
    refused = why;
    retryAtNs = nowNs + (FIRST_SHORT_RETRY_NS << shortRetries);
    return waiting && shortRetries++ < MAX_SHORT_RETRIES;
  }

  /** The last attempt that was refused so since blocks wait; null if there is none. */
  Refused refused() {
    return refused;
  }

  /** Whether this executor must attempt a connection now. */
  boolean shouldAttempt(long nowNs) {
    return waiting
        && attempt == null
        && !mayConfirm(nowNs)
        && established == null
        && nowNs - retryAtNs >= 0;
  }

  /** Counts a corrupt block; returns the count since the last quarantine. */
  int countCorruption() {
    return ++corruptions;
  }

  /** Quarantines the peer; see {@link Quarantine#begin}. */
  long quarantine(long nowNs, long firstNs, long maxNs, boolean withoutConnection) {
    corruptions = 0;
    return quarantine.begin(nowNs, firstNs, maxNs, withoutConnection);
  }

  /** Whether it was quarantined and none of its data has been read since. */
  boolean needsTest() {
    return quarantine.needsTest();
  }

  /** Its answer to a LOCATE was received, and the READs of that have completed. */
  void onServed() {
    quarantine.onServed();
  }

  /** Whether a connection to it is wanted. */
  boolean isWaiting() {
    return waiting;
  }

  boolean isQuarantined(long nowNs) {
    return quarantine.isRunning(nowNs);
  }

  /** Text of log lines, without secrets. */
  @Override
  public String toString() {
    return "executor=" + (endpoint == null ? "unknown" : endpoint.executorId());
  }
}
