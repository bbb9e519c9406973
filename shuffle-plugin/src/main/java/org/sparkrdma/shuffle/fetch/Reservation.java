// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.sparkrdma.leak.LeakRecord;

/**
 * Receive memory of one block: what {@link ReceiveMemory} has reserved for it, and its segments so
 * far. Owned by the thread that owns the block; the amounts are guarded by the {@link
 * ReceiveMemory}.
 *
 * <p>A superclass and not a part of a block's state, because each block needs one.
 */
class Reservation {
  /** Its segments; null when they were passed on. */
  private BlockMemory memory = new BlockMemory();

  /** The pool in which memory is reserved; null before the first reservation. */
  ReceiveMemory receive;

  /** The reader's part of receive memory; null without a reservation. Guarded by ReceiveMemory. */
  ReaderMemory reader;

  /** Guarded by ReceiveMemory. */
  long reservedBytes;

  /** Reserved bytes for which no sink was placed. Guarded by ReceiveMemory. */
  long unplacedBytes;

  /** Whether heap memory is granted for a copy of it. */
  boolean copyGranted;

  /** Its entry in reports of leaks. */
  LeakRecord leakRecord;

  /** Data that was read and not yet passed on or written to disk; null when it was passed on. */
  final BlockMemory memory() {
    return memory;
  }

  /** Whether memory is reserved. */
  final boolean isReserved() {
    return reader != null;
  }

  /** Ends the reservation if there is one; the segments stay. */
  final void endReservation() {
    if (reader != null) {
      receive.endReservation(this);
    }
  }

  /** Passes the segments on as a buffer; copies them to the heap if that is granted. */
  final FetchedBlock toFetchedBlock() {
    endReservation();
    BlockMemory whole = memory;
    HeapBlock copy = copyGranted ? receive.tryCopy(this) : null;
    memory = null;
    return copy == null ? whole : copy;
  }

  /** Releases the segments, the reservation and the grant of a copy that was not made. */
  final void releaseMemory() {
    try {
      releaseSegments();
    } finally {
      endReservation();
    }
  }

  private void releaseSegments() {
    if (memory != null) {
      if (copyGranted) {
        copyGranted = false;
        receive.copyReleased(memory.size());
      }
      memory.clear();
    }
  }
}
