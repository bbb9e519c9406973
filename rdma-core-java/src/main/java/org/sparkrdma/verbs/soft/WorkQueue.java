// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.DirectMemory;

/**
 * A send or receive queue: a ring of entries, filled by the queue pair's owner thread, executed
 * under the lock of the device. An entry is free again when its completion, or that of a later
 * entry, was polled.
 */
final class WorkQueue {
  private static final VarHandle TAIL;

  static {
    try {
      TAIL = MethodHandles.lookup().findVarHandle(WorkQueue.class, "tail", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final WorkEntry[] entries;
  private final int mask;
  private final int depth;

  /** Written by the owner, read with the lock of the device. */
  private long tail;

  /** Entries before this position are free again; confined to the owner. */
  private long freed;

  WorkQueue(int depth, int maxSge, int maxInlineBytes) throws VerbsException {
    this.depth = depth;
    int size = Integer.highestOneBit(Math.max(1, depth * 2 - 1));
    entries = new WorkEntry[size];
    mask = size - 1;
    ByteBuffer inlineData = DirectMemory.allocate(size * maxInlineBytes);
    for (int i = 0; i < size; i++) {
      entries[i] = new WorkEntry(maxSge, inlineData.slice(i * maxInlineBytes, maxInlineBytes));
    }
  }

  /** Number of entries, a power of two. */
  int size() {
    return entries.length;
  }

  // Called by the owner.

  /** Adds a request; false when the queue is full. */
  boolean offer(WorkRequest request) {
    long at = tail;
    if (at - freed == depth) {
      return false;
    }
    entries[(int) at & mask].fill(request);
    TAIL.setRelease(this, at + 1);
    return true;
  }

  /** The completion of the entry at {@code position} was polled. */
  void onPolled(long position) {
    freed = Math.max(freed, position + 1);
  }

  // Called with the lock of the device.

  long tail() {
    return (long) TAIL.getAcquire(this);
  }

  WorkEntry entry(long position) {
    return entries[(int) position & mask];
  }
}
