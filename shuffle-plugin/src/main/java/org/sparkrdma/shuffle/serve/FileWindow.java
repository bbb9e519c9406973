// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;

/**
 * A registered range of a map output's data file. Owned by {@link RegisteredFiles}, on the server's
 * thread.
 */
final class FileWindow {
  private final ServedOutput output;
  private final int index;
  private final MemoryRegion region;
  private final Optional<PinnedBudget.Grant> grant;
  private final long address;
  private final int remoteKey;
  private int leases;

  /**
   * The peer of most leases, usually of all; null when they are counted in {@link #otherHolders}.
   */
  private PeerShare holder;

  private int leasesOfHolder;

  /** Leases of each further peer; null until there is one. */
  private Map<PeerShare, Count> otherHolders;

  private long lastLeaseId;
  private long idleSinceNs;

  /** Neighbours in {@link IdleWindows}; null when it is not in the list. */
  FileWindow older;

  FileWindow newer;

  /** Not an Integer, so that the end of a lease allocates nothing. */
  private static final class Count {
    private int leases = 1;
  }

  /**
   * Owns the region and its grant of the budget from now on.
   *
   * @param grant empty for a window that is not pinned
   */
  FileWindow(
      ServedOutput output, int index, MemoryRegion region, Optional<PinnedBudget.Grant> grant) {
    this.output = output;
    this.index = index;
    this.region = region;
    this.grant = grant;
    RemoteRegion remote = region.remote();
    this.address = remote.address();
    this.remoteKey = remote.remoteKey32();
  }

  ServedOutput output() {
    return output;
  }

  /** Index of this window in the file. */
  int index() {
    return index;
  }

  /** Address of its first byte as peers see it. */
  long address() {
    return address;
  }

  int remoteKey() {
    return remoteKey;
  }

  /** Whether it has a grant of the budget. */
  boolean isPinned() {
    return grant.isPresent();
  }

  /** Bytes that it holds of the budget. */
  long pinnedBytes() {
    return grant.isPresent() ? grant.get().heldBytes() : 0;
  }

  boolean isLeased() {
    return leases > 0;
  }

  /** Whether a lease of this peer holds the window. */
  boolean isHeldBy(PeerShare peer) {
    return peer == holder || otherCount(peer) != null;
  }

  private Count otherCount(PeerShare peer) {
    return otherHolders == null ? null : otherHolders.get(peer);
  }

  /**
   * Counts a lease of a peer. When it throws, it has counted nothing.
   *
   * @return whether it is the peer's first
   */
  boolean addHolder(PeerShare peer) {
    if (peer == holder) {
      leasesOfHolder++;
      return false;
    }
    Count other = otherCount(peer);
    if (other != null) {
      other.leases++;
      return false;
    }
    if (holder == null) {
      holder = peer;
      leasesOfHolder = 1;
    } else {
      otherHolders = otherHolders == null ? new IdentityHashMap<>() : otherHolders;
      otherHolders.put(peer, new Count());
    }
    return true;
  }

  /**
   * A lease of a peer, which was counted, has ended. Allocates nothing.
   *
   * @return whether it was the peer's last
   */
  boolean removeHolder(PeerShare peer) {
    if (peer == holder) {
      leasesOfHolder--;
      holder = leasesOfHolder == 0 ? null : holder;
      return holder == null;
    }
    Count other = otherCount(peer);
    other.leases--;
    if (other.leases == 0) {
      otherHolders.remove(peer);
    }
    return other.leases == 0;
  }

  /** Whether this lease was the last one to be added; it then holds the window. */
  boolean isLastLeasedBy(long leaseId) {
    return lastLeaseId == leaseId;
  }

  /** Adds a lease. */
  void lease(long leaseId) {
    lastLeaseId = leaseId;
    leases++;
  }

  /** Removes a lease. */
  void endLease() {
    leases--;
  }

  /** Time at which its last lease ended. */
  long idleSinceNs() {
    return idleSinceNs;
  }

  void idleSinceNs(long nowNs) {
    idleSinceNs = nowNs;
  }

  /** Deregisters it: when this returns, no peer can READ it any more. */
  void close() {
    region.close();
    grant.ifPresent(PinnedBudget.Grant::close);
  }
}
