// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * The windows without leases, and the deregistration of windows: the least recently used one when
 * its memory is needed, those that are idle for too long, and those of removed map outputs; and the
 * number of all windows. Used with the server's lock.
 */
final class UnleasedWindows {
  private final PinnedBudget budget;
  private final ShuffleCounters counters;
  private final StateLock state;
  private final IdleWindows idle = new IdleWindows();

  /** Those of map outputs that are removed from the cache. */
  private final IdleWindows removed = new IdleWindows();

  /** Number of all windows, also with leases. */
  private int windows;

  UnleasedWindows(PinnedBudget budget, ShuffleCounters counters, StateLock state) {
    this.budget = budget;
    this.counters = counters;
    this.state = state;
  }

  /** Number of all windows, also of those with leases and those being registered. */
  int windowCount() {
    return windows;
  }

  /** A window is being registered, and counts from now on. */
  void onRegistration() {
    windows++;
  }

  void onRegistrationFailed() {
    windows--;
  }

  /** The window has no lease any more, or none yet. */
  void add(FileWindow window) {
    listOf(window).add(window);
  }

  /** The window, which was added, has a lease now. */
  void remove(FileWindow window) {
    listOf(window).remove(window);
  }

  private IdleWindows listOf(FileWindow window) {
    return window.output().isRemoved() ? removed : idle;
  }

  /**
   * Evicts windows until the budget can grant this many bytes, a few at a time; in between, other
   * threads have the lock. It ends without the room when others have taken what as many windows as
   * could be needed have left.
   *
   * @param isWanted whether to go on, after other threads had the lock
   * @return whether the budget could grant them; then the lock was held since the last {@code
   *     isWanted}
   */
  boolean makeRoom(long lengthBytes, BooleanSupplier isWanted) {
    // Each window holds at least one page.
    long steps = lengthBytes / budget.pageBytes() / IdleMemory.MAX_REGIONS + 1;
    while (makeRoom(lengthBytes, IdleMemory.MAX_REGIONS)) {
      if (budget.couldGrant(lengthBytes, 0)) {
        return true;
      }
      state.letOthersIn();
      steps--;
      if (steps == 0 || !isWanted.getAsBoolean()) {
        return false;
      }
    }
    return false;
  }

  /**
   * Evicts windows until the budget can grant this many bytes, but not more than a number of them.
   *
   * @return false when all idle windows together are not enough; then none is evicted
   */
  boolean makeRoom(long lengthBytes, int max) {
    assert state.isHeld();
    if (!budget.couldGrant(lengthBytes, idle.pinnedBytes() + removed.pinnedBytes())) {
      return false;
    }
    for (int i = 0; i < max && !budget.couldGrant(lengthBytes, 0); i++) {
      if (!tryEvict()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Evicts windows after the device has refused to register memory, whatever the budget could
   * grant: at least one if there is any, and more until this many bytes are no longer pinned.
   *
   * @param max maximum number of windows
   * @return number of windows
   */
  int evictForDevice(long lengthBytes, int max) {
    assert state.isHeld();
    long pinnedBefore = idle.pinnedBytes() + removed.pinnedBytes();
    int evicted = 0;
    while (evicted < max
        && (evicted == 0 || pinnedBefore - idle.pinnedBytes() - removed.pinnedBytes() < lengthBytes)
        && tryEvict()) {
      evicted++;
    }
    return evicted;
  }

  /** Deregisters a window, first of removed map outputs; false when there is none. */
  boolean tryEvict() {
    if (deregisterRemoved(1) == 1) {
      return true;
    }
    FileWindow oldest = idle.oldest();
    if (oldest == null) {
      return false;
    }
    deregister(oldest);
    counters.increment(Counter.WINDOWS_EVICTED);
    return true;
  }

  /** Time since which the least recently used window is idle; empty without idle windows. */
  OptionalLong idleSinceNs() {
    FileWindow oldest = idle.oldest();
    return oldest == null ? OptionalLong.empty() : OptionalLong.of(oldest.idleSinceNs());
  }

  /**
   * Deregisters windows that are idle since this time or longer, at most {@code max}; returns their
   * number.
   */
  int deregisterIdleSince(long thenNs, int max) {
    assert state.isHeld();
    int before = windows;
    FileWindow oldest = idle.oldest();
    while (oldest != null && oldest.idleSinceNs() - thenNs <= 0 && before - windows < max) {
      deregister(oldest);
      oldest = idle.oldest();
    }
    return before - windows;
  }

  /**
   * Removes a map output: its windows are deregistered by {@link #deregisterRemoved} when they have
   * no lease.
   *
   * @return number of its windows without leases
   */
  int removeOutput(ServedOutput output) {
    assert state.isHeld();
    int count = 0;
    for (int i = 0; output.isRegistered() && i < output.windowCount(); i++) {
      FileWindow window = output.window(i);
      if (window != null && !window.isLeased()) {
        idle.remove(window);
        removed.add(window);
        count++;
      }
    }
    output.remove();
    return count;
  }

  /** Whether windows of removed map outputs wait for {@link #deregisterRemoved}. */
  boolean hasRemoved() {
    return removed.oldest() != null;
  }

  /** Deregisters windows of removed map outputs, at most {@code max}; returns their number. */
  int deregisterRemoved(int max) {
    assert state.isHeld();
    int count = 0;
    while (count < max && removed.oldest() != null) {
      deregister(removed.oldest());
      count++;
    }
    return count;
  }

  private void deregister(FileWindow window) {
    remove(window);
    windows--;
    try {
      window.close();
      if (!window.isPinned()) {
        budget.countClosedRegion();
      }
    } finally {
      // Also when the device fails: no lease may get the window again.
      window.output().onDeregistered(window);
    }
  }
}
