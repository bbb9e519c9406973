// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * Receive memory of one reader: its reservations, and blocks without one whose memory is not
 * released yet, most of them complete and not read by Spark. {@link ReceiveMemory} knows it while
 * it has either.
 *
 * <p>The reservations are guarded by the lock of {@link ReceiveMemory}. Any thread may release
 * blocks, without the lock unless the reader has nothing else.
 */
final class ReaderMemory {
  private static final AtomicLongFieldUpdater<ReaderMemory> UNREAD_BYTES =
      AtomicLongFieldUpdater.newUpdater(ReaderMemory.class, "unreadBytes");

  final long id;
  private final ReceiveMemory receive;

  /** Written under the lock. */
  long reservedBytes;

  /** Written under the lock. */
  volatile int reservations;

  private volatile long unreadBytes;

  ReaderMemory(long id, ReceiveMemory receive) {
    this.id = id;
    this.receive = receive;
  }

  long unreadBytes() {
    return unreadBytes;
  }

  /** Whether it has no memory. */
  boolean isUnused() {
    return reservations == 0 && unreadBytes == 0;
  }

  /** A block keeps memory after its reservation. Under the lock, before the reservation ends. */
  void addUnread(long bytes) {
    UNREAD_BYTES.addAndGet(this, bytes);
  }

  /** Such memory is released, or belongs to a reservation again. Any thread. */
  void removeUnread(long bytes) {
    // The end of a reservation adds to these bytes first, so it or this thread sees both at zero.
    if (UNREAD_BYTES.addAndGet(this, -bytes) == 0 && reservations == 0) {
      receive.forgetUnused(this);
    }
  }
}
