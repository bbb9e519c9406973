// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * Receive memory of one reader: its reservations, and blocks without one whose memory is not
 * released yet, most of them complete and not read by Spark. {@link ReceiveMemory} knows it while
 * it has either.
 *
 * <p>The reservations are guarded by the lock of {@link ReceiveMemory}. Any thread may release
 * blocks; it takes the lock only when no block is unread any more.
 */
final class ReaderMemory {
  private static final AtomicLongFieldUpdater<ReaderMemory> UNREAD_BYTES =
      AtomicLongFieldUpdater.newUpdater(ReaderMemory.class, "unreadBytes");

  final long id;
  private final ReceiveMemory receive;

  /** Guarded by the lock. */
  long reservedBytes;

  /** Guarded by the lock. */
  int reservations;

  private volatile long unreadBytes;

  ReaderMemory(long id, ReceiveMemory receive) {
    this.id = id;
    this.receive = receive;
  }

  long unreadBytes() {
    return unreadBytes;
  }

  /** Whether it has no memory. Under the lock. */
  boolean isUnused() {
    return reservations == 0 && unreadBytes == 0;
  }

  /**
   * Reservations end, and their blocks keep memory. One change for many blocks: the task's thread
   * changes the same number at each release. Under the lock, before another thread has the blocks.
   */
  void endReservations(int count, long unread) {
    if (unread > 0) {
      UNREAD_BYTES.addAndGet(this, unread);
    }
    reservations -= count;
  }

  /** Such memory is released, or belongs to a reservation again. Any thread. */
  void removeUnread(long bytes) {
    if (UNREAD_BYTES.addAndGet(this, -bytes) == 0) {
      receive.forgetUnused(this);
    }
  }
}
