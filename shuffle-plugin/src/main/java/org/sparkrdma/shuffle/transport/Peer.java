// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * An executor that this one reads from: its connection, the fetches that wait for it, and its
 * quarantine, see {@link #quarantineOnFault}. After a fault the next fetch connects again at once;
 * a second fault within the longest quarantine (a minute by default) begins a quarantine, whose
 * length doubles with each that follows. Confined to the agent.
 */
final class Peer {
  private static final long FIRST_RETRY_NS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long MAX_RETRY_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /** A request that waits for a connection, with its blocks from an index on. */
  record Waiting(FetchRequest request, int from, long deadlineNs) {
    void leaveToTcp(FallbackReason reason, String detail) {
      if (from == 0) {
        request.leaveRestToTcp(reason, detail);
        return;
      }
      for (int i = from; i < request.ranges().size(); i++) {
        request.leaveToTcp(i, reason, detail);
      }
    }
  }

  private final Endpoint endpoint;
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

  /** An attempt or an established one; null without. */
  private ReadConnection connection;

  /** Attempts that have failed: the next one uses other addresses. */
  private int failedAttempts;

  private boolean mustConnect;

  /** Whether the peer has rejected the last attempt. */
  private boolean rejected;

  private long retryPauseNs;
  private long retryNs;

  /** Whether there is a fault to remember, for as long as the longest quarantine. */
  private boolean hadFault;

  private long memoryNs;
  private long faultNs;
  private long quarantineNs;
  private long quarantineEndNs;

  Peer(Endpoint endpoint) {
    this.endpoint = endpoint;
  }

  Endpoint endpoint() {
    return endpoint;
  }

  ArrayDeque<Waiting> waiting() {
    return waiting;
  }

  /** The fetches that wait use TCP. */
  void leaveWaitingToTcp(FallbackReason reason, String detail) {
    while (!waiting.isEmpty()) {
      waiting.poll().leaveToTcp(reason, detail);
    }
  }

  ReadConnection connection() {
    return connection;
  }

  void setConnection(ReadConnection established) {
    connection = established;
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
    rejected = false;
  }

  boolean hasRejected() {
    return rejected;
  }

  /** It has no room for a connection now. */
  void onRejected(long nowNs) {
    rejected = true;
    retryLater(nowNs);
  }

  /**
   * Counts a fault.
   *
   * @return length of the quarantine that begins; 0 when none does
   */
  long quarantineOnFault(long nowNs, long firstNs, long maxNs) {
    boolean again = remembersFault(nowNs);
    memoryNs = maxNs;
    hadFault = true;
    faultNs = nowNs;
    if (!again) {
      quarantineNs = 0;
      return 0;
    }
    quarantineNs = quarantineNs == 0 ? firstNs : Math.min(2 * quarantineNs, maxNs);
    quarantineEndNs = nowNs + quarantineNs;
    return quarantineNs;
  }

  /** A block of it was read: the next quarantine is a first one. */
  void resetQuarantine() {
    quarantineNs = 0;
  }

  boolean isQuarantined(long nowNs) {
    return quarantineNs > 0 && nowNs - quarantineEndNs < 0;
  }

  /** Whether nothing must be remembered of it. */
  boolean isUnused(long nowNs) {
    return connection == null && !mustConnect && waiting.isEmpty() && !remembersFault(nowNs);
  }

  private boolean remembersFault(long nowNs) {
    return hadFault && nowNs - faultNs < memoryNs + quarantineNs;
  }
}
