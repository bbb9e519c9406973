// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayList;
import org.sparkrdma.leak.LeakRecord;
import org.sparkrdma.memory.RegisteredChunk;

/**
 * The right of one peer to READ the windows and slots of one answer. Used with the server's lock.
 */
final class Lease {
  /** An object, so that the end of a lease allocates none. */
  private final Long id;

  private final long peer;
  private final PeerShare share;
  private final ArrayList<FileWindow> windows = new ArrayList<>();
  private final ArrayList<RegisteredChunk> slots = new ArrayList<>();
  private long deadlineNs;

  /** Number of windows that the end of the lease has got through. */
  private int endedWindows;

  private LeakRecord leakRecord;
  private boolean granted;
  private boolean cancelled;

  /** Whether the reader requests again what this lease, which is cancelled, would have held. */
  private boolean requestedAgain;

  private long registeredBytes;

  Lease(long id, long peer, PeerShare share) {
    this.id = id;
    this.peer = peer;
    this.share = share;
  }

  Long id() {
    return id;
  }

  long peer() {
    return peer;
  }

  /** All windows and slots that its peer holds, by this lease and others. */
  PeerShare share() {
    return share;
  }

  /** The end of its time, once it has begun. */
  long deadlineNs() {
    return deadlineNs;
  }

  /** Adds a window; when it throws, nothing was added. */
  void add(FileWindow window) {
    share.add(window);
    boolean added = false;
    try {
      added = windows.add(window);
    } finally {
      if (!added) {
        share.remove(window);
      }
    }
  }

  /** Adds a slot; when it throws, nothing was added. */
  void add(RegisteredChunk slot) {
    slots.add(slot);
    share.addSlot();
    if (cancelled) {
      share.addAbandoned(1);
    }
  }

  /** The lease is granted, and its time begins. */
  void begin(long newDeadlineNs) {
    leakRecord = LeakRecord.acquire("lease");
    deadlineNs = newDeadlineNs;
    granted = true;
    share.beginLease();
  }

  /** Its peer is gone, or its blocks use TCP: it must not be granted. */
  void cancel() {
    abandonSlots();
    requestedAgain = false;
  }

  /** The answer leaves its blocks out, and the reader requests them again: not to be granted. */
  void leaveOut() {
    abandonSlots();
    requestedAgain = true;
  }

  private void abandonSlots() {
    if (!cancelled) {
      cancelled = true;
      share.addAbandoned(slots.size());
    }
  }

  boolean isCancelled() {
    return cancelled;
  }

  /** Whether a window is of use that is registered for it: to it, or to the next request. */
  boolean needsWindows() {
    return !cancelled || requestedAgain;
  }

  /** Counts bytes that were registered for it. */
  void addRegistered(long lengthBytes) {
    registeredBytes += lengthBytes;
  }

  long registeredBytes() {
    return registeredBytes;
  }

  /**
   * Takes over all windows and slots of another lease of the same peer; when it throws, the other
   * one still has them. Only what comes first allocates.
   */
  void takeOver(Lease other) {
    windows.ensureCapacity(windows.size() + other.windows.size());
    slots.ensureCapacity(slots.size() + other.slots.size());
    for (int i = 0; i < other.windows.size(); i++) {
      windows.add(other.windows.get(i));
    }
    for (int i = 0; i < other.slots.size(); i++) {
      slots.add(other.slots.get(i));
    }
    other.windows.clear();
    other.slots.clear();
  }

  /** Number of its windows and slots. */
  int held() {
    return windows.size() + slots.size();
  }

  boolean isEmpty() {
    return windows.isEmpty() && slots.isEmpty();
  }

  /**
   * Ends the lease on all its windows and slots; a second call does nothing. Allocates nothing, and
   * another call continues where an Error has ended the last one.
   */
  void end(RegisteredFiles files) {
    long nowNs = windows.isEmpty() ? 0 : files.nowNs();
    while (endedWindows < windows.size()) {
      FileWindow window = windows.get(endedWindows);
      files.endLease(window, nowNs);
      endedWindows++;
      share.remove(window);
    }
    windows.clear();
    endedWindows = 0;
    while (!slots.isEmpty()) {
      RegisteredChunk slot = slots.remove(slots.size() - 1);
      share.removeSlot();
      if (cancelled) {
        share.removeAbandoned();
      }
      slot.release();
    }
    if (granted) {
      granted = false;
      share.endLease();
      leakRecord.release();
    }
  }
}
