// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.leak.LeakRecord;
import org.sparkrdma.memory.RegisteredChunk;

/**
 * The right of one peer to READ the windows and slots of one answer. Used with the server's lock.
 */
final class Lease {
  private final long id;
  private final long peer;
  private final PeerShare share;
  private long deadlineNs;
  private final List<FileWindow> windows = new ArrayList<>();
  private final List<RegisteredChunk> slots = new ArrayList<>();
  private LeakRecord leakRecord;
  private boolean cancelled;
  private long registeredBytes;

  Lease(long id, long peer, PeerShare share) {
    this.id = id;
    this.peer = peer;
    this.share = share;
  }

  long id() {
    return id;
  }

  long peer() {
    return peer;
  }

  /** All that its peer holds, this lease included. */
  PeerShare share() {
    return share;
  }

  /** The end of its time, once it has begun. */
  long deadlineNs() {
    return deadlineNs;
  }

  void add(FileWindow window) {
    windows.add(window);
    share.add(window);
  }

  void add(RegisteredChunk slot) {
    slots.add(slot);
    share.addSlot();
  }

  /** The lease is granted, and its time begins. */
  void begin(long newDeadlineNs) {
    deadlineNs = newDeadlineNs;
    leakRecord = LeakRecord.acquire("lease");
    share.beginLease();
  }

  /** Its peer is gone: it must not be granted. */
  void cancel() {
    cancelled = true;
  }

  boolean isCancelled() {
    return cancelled;
  }

  /** Counts bytes that were registered for it. */
  void addRegistered(long lengthBytes) {
    registeredBytes += lengthBytes;
  }

  long registeredBytes() {
    return registeredBytes;
  }

  /** Takes over all windows and slots of another lease of the same peer. */
  void takeOver(Lease other) {
    windows.addAll(other.windows);
    slots.addAll(other.slots);
    other.windows.clear();
    other.slots.clear();
  }

  boolean isEmpty() {
    return windows.isEmpty() && slots.isEmpty();
  }

  /** Ends the lease on all its windows and slots. */
  void end(RegisteredFiles files) {
    for (int i = 0; i < windows.size(); i++) {
      share.remove(windows.get(i));
      files.endLease(windows.get(i));
    }
    share.removeSlots(slots.size());
    slots.forEach(RegisteredChunk::release);
    windows.clear();
    slots.clear();
    if (leakRecord != null) {
      leakRecord.release();
    }
  }
}
