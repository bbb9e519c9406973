/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
  private final long deadlineNs;
  private final List<FileWindow> windows = new ArrayList<>();
  private final List<RegisteredChunk> slots = new ArrayList<>();
  private LeakRecord leakRecord;
  private boolean cancelled;
  private long registeredBytes;

  Lease(long id, long peer, PeerShare share, long deadlineNs) {
    this.id = id;
    this.peer = peer;
    this.share = share;
    this.deadlineNs = deadlineNs;
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

  /** The lease is granted. */
  void onGranted() {
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
