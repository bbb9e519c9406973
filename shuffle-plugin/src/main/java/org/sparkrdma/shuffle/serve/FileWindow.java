// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

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
  private long lastLeaseId;
  private long idleSinceNs;

  /** Neighbours in {@link IdleWindows}; null when it is not in the list. */
  FileWindow older;

  FileWindow newer;

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
    this.remoteKey = remote.remoteKey();
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
