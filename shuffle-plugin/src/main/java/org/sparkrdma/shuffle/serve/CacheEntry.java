// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.sparkrdma.verbs.VerbsException;

/**
 * Something of a map output that a disk thread loads once: its index, a registered window, a copy,
 * checksums. Leases hold it while peers may READ it, and open LOCATEs until they are answered; an
 * entry that is held is not evicted.
 *
 * <pre>
 *  LOADING ──► READY
 *     │
 *     └──────► FAILED   dropped when no LOCATE holds it
 * </pre>
 *
 * <p>Confined to the agent, but for {@link #tryBegin} and {@link #load}.
 */
abstract class CacheEntry {
  /** Progress of the load. */
  enum State {
    LOADING,
    READY,
    FAILED
  }

  /** A LOCATE that waits for the entry, and the length that its block needs of it. */
  record Waiter(OpenLocate locate, int block, long wantedBytes) {}

  private final AtomicBoolean begun = new AtomicBoolean();
  private final List<Waiter> waiters = new ArrayList<>(1);
  private State state = State.LOADING;
  private int holds;

  /** The lease, or the entries of a LOCATE, that has held it last, which holds it once. */
  private Object lastHolder;

  final boolean isLoading() {
    return state == State.LOADING;
  }

  final boolean isReady() {
    return state == State.READY;
  }

  final boolean isFailed() {
    return state == State.FAILED;
  }

  final boolean isHeld() {
    return holds > 0;
  }

  /** Whether a thread may begin the load: false when it was cancelled, or has begun. Any thread. */
  final boolean tryBegin() {
    return begun.compareAndSet(false, true);
  }

  /**
   * Reads or registers, on a thread of the disk.
   *
   * @throws IOException when a file cannot be read
   * @throws VerbsException when the device refuses memory
   */
  abstract void load() throws IOException, VerbsException;

  /**
   * The load has ended.
   *
   * @param failure null when it has succeeded
   * @param nowNs for what becomes idle
   * @return what waited for it
   */
  final List<Waiter> finish(Exception failure, long nowNs) {
    state = onLoaded(failure, nowNs) ? State.READY : State.FAILED;
    List<Waiter> waited = List.copyOf(waiters);
    waiters.clear();
    if (holds == 0) {
      settle(nowNs);
    }
    return waited;
  }

  /** Takes the result of the load; returns whether it is usable. */
  abstract boolean onLoaded(Exception failure, long nowNs);

  /**
   * Holds it, once for each holder.
   *
   * @param holder a lease, or the entries of an open LOCATE
   * @return false when the holder holds it already
   */
  final boolean hold(Object holder) {
    if (lastHolder == holder) {
      return false;
    }
    lastHolder = holder;
    holds++;
    if (holds == 1) {
      onHeld();
    }
    return true;
  }

  final void addWaiter(OpenLocate locate, int block, long wantedBytes) {
    waiters.add(new Waiter(locate, block, wantedBytes));
  }

  final void removeWaiter(OpenLocate locate) {
    waiters.removeIf(waiter -> waiter.locate() == locate);
  }

  /** One of its holders holds it no more. */
  final void release(long nowNs) {
    holds--;
    if (holds == 0) {
      lastHolder = null;
      onReleased();
      settle(nowNs);
    }
  }

  private void settle(long nowNs) {
    if (isReady()) {
      onIdle(nowNs);
    } else if (isFailed() || tryBegin()) {
      // A load that has not begun is cancelled.
      state = State.FAILED;
      onDropped();
    }
  }

  /** It has a holder. */
  void onHeld() {}

  /** It has no holder any more. */
  void onReleased() {}

  /** It is ready, and nothing holds it. */
  void onIdle(long nowNs) {}

  /** It has failed or was cancelled, and nothing holds it: to be removed from its cache. */
  abstract void onDropped();
}
