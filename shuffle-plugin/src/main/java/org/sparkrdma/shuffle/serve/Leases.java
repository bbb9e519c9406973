// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.leak.LeakRecord;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * All leases of all readers, and when each ends: when it is released, or when its peer is gone.
 *
 * <p>A deadline alone frees nothing: otherwise a slow reader would READ another block's bytes with
 * success. So {@link #expire} only marks a stale lease, the connection of its peer must end then
 * ({@link BlockServer#hasExpiredLease}, which {@code ServeConnection} asks), and {@link
 * #onConnectionGone} ends the lease when the queue pair is destroyed. The release of an expired
 * lease has no effect. Confined to the agent.
 */
final class Leases {
  /** Odd, so that ids repeat only after all 64-bit numbers. */
  private static final long ID_STEP = 0x9E3779B97F4A7C15L;

  private final long lengthNs;
  private final int maxPerConnection;
  private final ShuffleCounters counters;

  /** Leases by id. All have the same duration, so insertion order is deadline order. */
  private final Map<Long, Lease> open = new LinkedHashMap<>();

  private final Map<Long, ReaderAccount> accounts = new HashMap<>();
  private long lastId;

  /** The right of one peer to READ the memory of one answer. */
  static final class Lease {
    private final long connection;
    private final ArrayList<Leased> memory = new ArrayList<>();
    private Long id;
    private long deadlineNs;
    private LeakRecord leakRecord;

    /** A lease that is not granted yet. */
    Lease(long connection) {
      this.connection = connection;
    }

    long connection() {
      return connection;
    }

    Long id() {
      return id;
    }

    /** The end of its time, once it is granted. */
    long deadlineNs() {
      return deadlineNs;
    }

    boolean isEmpty() {
      return memory.isEmpty();
    }

    boolean holds(FileWindow window) {
      return memory.contains(window);
    }

    void hold(Leased one) {
      if (one.hold(this)) {
        memory.add(one);
      }
    }

    /** It is granted, and its time begins. */
    void begin(Long newId, long newDeadlineNs) {
      id = newId;
      deadlineNs = newDeadlineNs;
      leakRecord = LeakRecord.acquire("lease");
    }

    /** Holds its memory no more. */
    void end(long nowNs) {
      for (Leased one : memory) {
        one.release(nowNs);
      }
      memory.clear();
      if (leakRecord != null) {
        leakRecord.release();
        leakRecord = null;
      }
    }
  }

  private static final class ReaderAccount {
    private int open;
    private final List<Lease> expired = new ArrayList<>(0);
  }

  /**
   * @param maxPerConnection maximum number of leases of one connection
   * @param firstId any number; the order of ids reveals nothing
   */
  Leases(Duration length, int maxPerConnection, ShuffleCounters counters, long firstId) {
    this.lengthNs = length.toNanos();
    this.maxPerConnection = maxPerConnection;
    this.counters = counters;
    this.lastId = firstId;
  }

  /** Whether a peer has all leases that it may have. */
  boolean isFull(long connection) {
    ReaderAccount holder = accounts.get(connection);
    return holder != null && holder.open + holder.expired.size() >= maxPerConnection;
  }

  /** Grants a lease, whose time begins. */
  void grant(Lease lease, long nowNs) {
    do {
      lastId += ID_STEP;
    } while (lastId == 0);
    lease.begin(lastId, nowNs + lengthNs);
    open.put(lease.id(), lease);
    accounts.computeIfAbsent(lease.connection(), connection -> new ReaderAccount()).open++;
  }

  /**
   * Releases a lease of a peer. Unknown ids are ignored: the lease may have expired.
   *
   * @return false when the lease is another peer's
   */
  boolean release(long connection, long leaseId, long nowNs) {
    Lease lease = open.get(leaseId);
    if (lease == null) {
      return true;
    }
    if (lease.connection() != connection) {
      return false;
    }
    open.remove(lease.id());
    accounts.get(connection).open--;
    lease.end(nowNs);
    return true;
  }

  /** The peer's queue pair is destroyed, so it can READ nothing any more. */
  void onConnectionGone(long connection, long nowNs) {
    ReaderAccount holder = accounts.remove(connection);
    if (holder == null) {
      return;
    }
    holder.expired.forEach(lease -> lease.end(nowNs));
    Iterator<Lease> leases = open.values().iterator();
    while (holder.open > 0) {
      Lease lease = leases.next();
      if (lease.connection() == connection) {
        leases.remove();
        holder.open--;
        lease.end(nowNs);
      }
    }
  }

  /** Time at which the next lease expires; or the other time without open leases. */
  long nextDeadlineNs(long otherNs) {
    return open.isEmpty() ? otherNs : open.values().iterator().next().deadlineNs();
  }

  /** Expires leases past their deadlines; their memory stays. */
  void expire(long nowNs) {
    Iterator<Lease> leases = open.values().iterator();
    while (leases.hasNext()) {
      Lease lease = leases.next();
      if (nowNs - lease.deadlineNs() < 0) {
        return;
      }
      leases.remove();
      counters.increment(Counter.LEASES_EXPIRED);
      ReaderAccount holder = accounts.get(lease.connection());
      holder.open--;
      holder.expired.add(lease);
    }
  }

  /** Whether a peer holds memory. */
  boolean holdsMemory(long connection) {
    ReaderAccount holder = accounts.get(connection);
    return holder != null && holder.open + holder.expired.size() > 0;
  }

  /** Whether a lease of a peer has expired. */
  boolean hasExpired(long connection) {
    ReaderAccount holder = accounts.get(connection);
    return holder != null && !holder.expired.isEmpty();
  }

  /** Ends all leases when the server stops. */
  void close(long nowNs) {
    for (ReaderAccount holder : accounts.values()) {
      holder.expired.forEach(lease -> lease.end(nowNs));
    }
    open.values().forEach(lease -> lease.end(nowNs));
    open.clear();
    accounts.clear();
  }
}
