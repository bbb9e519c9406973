// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * All outstanding leases of all peers.
 *
 * <p>A lease ends when it is released or when its peer is gone. A deadline alone frees nothing:
 * otherwise a slow reader would READ another block's bytes with success. When leases of a peer
 * expire, the end of its connection is requested once. The release of an expired lease has no
 * effect. Used with the server's lock.
 */
final class Leases {
  /** Odd, so that ids repeat only after all 64-bit numbers. */
  private static final long ID_STEP = 0x9E3779B97F4A7C15L;

  private final long lengthNs;
  private final RegisteredFiles files;
  private final StateLock state;
  private final ShuffleCounters counters;
  private final LongConsumer onLeaseExpired;

  /**
   * Leases by id. All have the same duration from {@link #grant} on, so insertion order is deadline
   * order.
   */
  private final Map<Long, Lease> open = new LinkedHashMap<>();

  /** Leases of answers in progress. */
  private final Set<Lease> drafts = new HashSet<>();

  private final List<Lease> expired = new ArrayList<>();
  private final Set<Long> expiredPeers = new HashSet<>();
  private final Function<Long, PeerShare> newShare;
  private final Map<Long, PeerShare> shares = new HashMap<>();
  private long lastId;

  /**
   * @param newShare creates the share of a new peer
   * @param firstId any number; the order of ids reveals nothing
   */
  Leases(
      Duration length,
      RegisteredFiles files,
      StateLock state,
      ShuffleCounters counters,
      LongConsumer onLeaseExpired,
      Function<Long, PeerShare> newShare,
      long firstId) {
    this.lengthNs = length.toNanos();
    this.files = files;
    this.state = state;
    this.counters = counters;
    this.onLeaseExpired = onLeaseExpired;
    this.newShare = newShare;
    this.lastId = firstId;
  }

  /** A new empty lease, which is not outstanding before {@link #grant}. */
  Lease draft(long peer) {
    assert state.isHeld();
    do {
      lastId += ID_STEP;
    } while (lastId == 0);
    PeerShare share = shares.computeIfAbsent(peer, newShare);
    Lease draft = new Lease(lastId, peer, share);
    drafts.add(draft);
    return draft;
  }

  /** Makes a draft an outstanding lease, whose time begins. The draft must not be cancelled. */
  void grant(Lease lease, long nowNs) {
    assert state.isHeld();
    lease.begin(nowNs + lengthNs);
    open.put(lease.id(), lease);
    drafts.remove(lease);
  }

  /** Moves all windows and slots of a draft to another draft of the same answer, and ends it. */
  void merge(Lease from, Lease into) {
    assert state.isHeld();
    drafts.remove(from);
    into.takeOver(from);
  }

  /** Ends a draft that will not be granted, or a lease that the peer will not learn of. */
  void discard(Lease lease) {
    assert state.isHeld();
    drafts.remove(lease);
    open.remove(lease.id());
    lease.end(files);
  }

  /**
   * Releases a lease of a peer. Unknown ids are ignored: the lease may have expired.
   *
   * @return false when the lease is another peer's
   */
  boolean release(long peer, long leaseId) {
    assert state.isHeld();
    Lease lease = open.get(leaseId);
    if (lease != null && lease.peer() != peer) {
      return false;
    }
    if (lease != null) {
      lease.end(files);
      open.remove(lease.id());
    }
    return true;
  }

  /** Number of windows and slots that these leases hold. */
  int held(long[] leaseIds) {
    assert state.isHeld();
    int held = 0;
    for (long leaseId : leaseIds) {
      Lease lease = open.get(leaseId);
      held += lease == null ? 0 : lease.held();
    }
    return held;
  }

  /** The peer's queue pair is destroyed, so it can READ nothing any more. */
  void onPeerGone(long peer) {
    assert state.isHeld();
    endAll(open.values().iterator(), peer);
    endAll(expired.iterator(), peer);
    for (Lease draft : drafts) {
      if (draft.peer() == peer) {
        draft.cancel();
      }
    }
    expiredPeers.remove(peer);
    shares.remove(peer);
  }

  private void endAll(Iterator<Lease> leases, long peer) {
    while (leases.hasNext()) {
      Lease lease = leases.next();
      if (lease.peer() == peer) {
        // In this order, so that after an Error another call continues with this lease.
        lease.end(files);
        leases.remove();
      }
    }
  }

  /** Time at which the next lease expires; empty without outstanding leases. */
  OptionalLong nextDeadlineNs() {
    return open.isEmpty()
        ? OptionalLong.empty()
        : OptionalLong.of(open.values().iterator().next().deadlineNs());
  }

  /** Removes leases past their deadlines; returns their number. */
  int expire(long nowNs) {
    assert state.isHeld();
    if (open.isEmpty()) {
      return 0;
    }
    int count = 0;
    Iterator<Lease> leases = open.values().iterator();
    while (leases.hasNext()) {
      Lease lease = leases.next();
      if (nowNs - lease.deadlineNs() < 0) {
        break;
      }
      // In this order, so that after an Error the next call continues with this lease.
      if (!expiredPeers.contains(lease.peer())) {
        onLeaseExpired.accept(lease.peer());
        expiredPeers.add(lease.peer());
      }
      expired.add(lease);
      leases.remove();
      counters.increment(Counter.LEASES_EXPIRED);
      count++;
    }
    return count;
  }

  /** Ends all leases when the server stops. */
  void close() {
    assert state.isHeld();
    open.values().forEach(lease -> lease.end(files));
    expired.forEach(lease -> lease.end(files));
    // Those of requests that an Error has ended.
    drafts.forEach(lease -> lease.end(files));
    open.clear();
    expired.clear();
    drafts.clear();
    expiredPeers.clear();
    shares.clear();
  }
}
