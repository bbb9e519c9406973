// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.memory.PinnedBudget;

/**
 * The serving side's part of the account of pinned memory. One rule: windows in use and memory of
 * copies together leave the budget's reserve to receive memory. Idle windows may use all of it, and
 * are evicted for others. Confined to the agent.
 */
final class ServingBudget {
  private final PinnedBudget budget;
  private final DiskWork work;

  /** Windows that load or are held, and all memory of copies. */
  private long busyBytes;

  ServingBudget(PinnedBudget budget, DiskWork work) {
    this.budget = budget;
    this.work = work;
  }

  /**
   * Memory that a load may register: a grant, or else memory that is evicted for it, which the
   * thread of the disk closes first.
   */
  static final class Reservation {
    private final long lengthBytes;
    private final List<DiskWork.Memory> evicted;
    private PinnedBudget.Grant grant;

    private Reservation(long lengthBytes, List<DiskWork.Memory> evicted, PinnedBudget.Grant grant) {
      this.lengthBytes = lengthBytes;
      this.evicted = evicted;
      this.grant = grant;
    }

    /**
     * Takes the grant, on a thread of a disk; once.
     *
     * @return null when others have taken the bytes meanwhile
     */
    PinnedBudget.Grant take(PinnedBudget budget) {
      for (DiskWork.Memory memory : evicted) {
        DiskWork.closeNow(memory);
      }
      PinnedBudget.Grant taken = grant == null ? budget.tryGrant(lengthBytes).orElse(null) : grant;
      grant = null;
      return taken;
    }

    /** The load has ended; on the agent. */
    void onLoaded() {
      evicted.forEach(DiskWork.Memory::onClosed);
      evicted.clear();
    }
  }

  /** Whether so much more memory may be in use; the first may always be. */
  boolean mayUse(long lengthBytes) {
    return busyBytes == 0
        || busyBytes + lengthBytes <= budget.limitBytes() - budget.reservedBytes();
  }

  void addBusy(long lengthBytes) {
    busyBytes += lengthBytes;
  }

  void removeBusy(long lengthBytes) {
    busyBytes -= lengthBytes;
  }

  /**
   * Reserves memory, if necessary that of idle windows.
   *
   * @return null when all idle windows together are not enough
   */
  Reservation reserve(long lengthBytes, FileWindows windows) {
    PinnedBudget.Grant grant = budget.tryGrant(lengthBytes).orElse(null);
    List<DiskWork.Memory> evicted = new ArrayList<>();
    if (grant == null) {
      if (!budget.couldGrant(lengthBytes, windows.idleBytes())) {
        return null;
      }
      long evictedBytes = 0;
      while (!budget.couldGrant(lengthBytes, evictedBytes)) {
        FileWindows.Window oldest = windows.takeOldest();
        if (oldest == null) {
          evicted.forEach(work::close);
          return null;
        }
        evicted.add(oldest);
        evictedBytes += oldest.pinnedBytes();
      }
    }
    return new Reservation(lengthBytes, evicted, grant);
  }

  /** A load that has not begun needs its memory no more. */
  void cancel(Reservation reservation) {
    reservation.evicted.forEach(work::close);
    reservation.evicted.clear();
    if (reservation.grant != null) {
      reservation.grant.close();
      reservation.grant = null;
    }
  }
}
