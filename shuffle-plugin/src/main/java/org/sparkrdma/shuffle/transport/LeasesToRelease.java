// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.fetch.ReadBatch;

/**
 * Leases of the peer that are not used any more, in the order of their ends. The next LOCATE
 * releases them; they wait for it, but not for long, and only while that takes little memory from
 * others: after a BUSY of the peer, or when they are of many bytes, they wait only for a LOCATE
 * that is sure to follow. Owned by the agent.
 */
final class LeasesToRelease {
  /** Time for which a lease may wait for a LOCATE that releases it. */
  static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(5);

  /** Blocks of all waiting leases of a connection, each of which may hold a window. */
  static final int MAX_BLOCKS = 8;

  /** Bytes of all waiting leases of a connection. */
  static final long MAX_BYTES = 1 << 20;

  /** Time after a BUSY in which the peer needs each lease back at once. */
  static final long BUSY_NS = TimeUnit.SECONDS.toNanos(1);

  private final ArrayDeque<Long> leases = new ArrayDeque<>();
  private int blocks;
  private long bytes;

  /** Whether an answer with copies is among them: a server has few slots for these. */
  private boolean copies;

  private boolean waiting;
  private long waitingSinceNs;
  private boolean wasBusy;
  private long busySinceNs;

  boolean isEmpty() {
    return leases.isEmpty();
  }

  boolean contains(long leaseId) {
    return leases.contains(leaseId);
  }

  /** The READs of an answer with a lease have completed. */
  void add(ReadBatch answer) {
    leases.add(answer.leaseId());
    blocks += answer.blockCount();
    bytes += answer.allBytesRead();
    copies |= answer.hasCopies();
  }

  /** Removes the first; there must be one. */
  long take() {
    long first = leases.remove();
    if (leases.isEmpty()) {
      blocks = 0;
      bytes = 0;
      copies = false;
    }
    return first;
  }

  /** The peer had no room for a block. */
  void onBusy(long nowNs) {
    wasBusy = true;
    busySinceNs = nowNs;
  }

  /** Notes the time since which there are leases. */
  void noteWait(long nowNs) {
    if (leases.isEmpty()) {
      waiting = false;
    } else if (!waiting) {
      waiting = true;
      waitingSinceNs = nowNs;
    }
  }

  /**
   * Whether they should be released without a LOCATE now; call {@link #noteWait} before.
   *
   * @param locateFollows whether a LOCATE is to follow an answer, which releases them too
   * @param locateMayFollow whether a task's next request would be sent at once
   */
  boolean areDue(boolean locateFollows, boolean locateMayFollow, long nowNs) {
    boolean mayWait = locateFollows || (locateMayFollow && holdLittle(nowNs));
    return waiting && (!mayWait || nowNs - waitingSinceNs >= MAX_WAIT_NS);
  }

  private boolean holdLittle(long nowNs) {
    wasBusy &= nowNs - busySinceNs < BUSY_NS;
    return !wasBusy && !copies && blocks <= MAX_BLOCKS && bytes <= MAX_BYTES;
  }
}
