// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Makes a range of a file readable for a peer: in a registered window, or else as a copy in a slot,
 * as the mode allows.
 *
 * <p>The bytes registered for one answer are limited, so that other peers wait only a few
 * milliseconds. Made for one {@link LocatePart}; used with the server's lock.
 */
final class PiecePlacer {
  /** Enough for a request of Spark's usual size; the reader requests the rest again. */
  static final long MAX_ANSWER_BYTES = 64L << 20;

  /** Bytes of an answer that several threads write, each with a placer of its own. */
  static final class Total {
    private long placedBytes;
  }

  /** Whether a piece is readable now. */
  enum Result {
    /** The piece is readable. */
    PLACED,
    /** There is no memory now, or its pieces will not be used. */
    NO_ROOM,
    /** The file must be read, which this thread must not do. */
    NEEDS_DISK
  }

  private final ServingMode mode;
  private final RegisteredFiles files;
  private final CopySlots slots;
  private final SlotWriter slotWriter;
  private final Lease lease;
  private final Total total;
  private final StateLock state;
  private int piecesFromWindows;
  private int piecesFromSlots;
  private long bytesFromSlots;

  /**
   * @param slots null when copying is off
   * @param lease holds the pieces
   * @param total of the answer
   */
  PiecePlacer(
      ServingMode mode,
      RegisteredFiles files,
      CopySlots slots,
      Lease lease,
      Total total,
      StateLock state) {
    this.mode = mode;
    this.files = files;
    this.slots = slots;
    this.slotWriter = slots == null ? null : new SlotWriter(slots, state);
    this.lease = lease;
    this.total = total;
    this.state = state;
  }

  /** Whether its pieces will not be used. */
  boolean isCancelled() {
    return lease.isCancelled();
  }

  /** Whether this answer has reached its limit of bytes. */
  boolean answerLimitReached() {
    return total.placedBytes >= MAX_ANSWER_BYTES || lease.registeredBytes() >= MAX_ANSWER_BYTES;
  }

  /** Whether this answer has at least one piece. */
  boolean hasPlaced() {
    return total.placedBytes > 0;
  }

  /**
   * Makes the beginning of a range readable, as much of it as is contiguous.
   *
   * @param mayBlock whether this thread may wait for the disk
   * @throws IOException when the file cannot be read
   */
  Result place(
      ServedOutput output, long fileOffset, long lengthBytes, Piece piece, boolean mayBlock)
      throws IOException {
    int index = ServingMode.windowIndex(fileOffset, mode.windowBytes());
    if (!mayBlock && !isReady(output.window(index))) {
      return Result.NEEDS_DISK;
    }
    long toCopyBytes = bytesToCopy(output, index, fileOffset, lengthBytes);
    if (toCopyBytes > 0 && slotWriter.copy(output, fileOffset, toCopyBytes, lease, piece)) {
      mode.copyPolicy().copied(output, index, piece.lengthBytes());
      addFromSlot(piece);
    } else if (toCopyBytes > 0 && mustAwaitSlots(output, index)) {
      return Result.NO_ROOM;
    } else if (mode.fromWindows()
        && placeInWindow(output, fileOffset, lengthBytes, piece, mayBlock)) {
      piecesFromWindows++;
      piece.copied(false);
    } else if (slots == null || isCancelled()) {
      return Result.NO_ROOM;
    } else if (!mayBlock) {
      return Result.NEEDS_DISK;
    } else if (slotWriter.copy(output, fileOffset, lengthBytes, lease, piece)) {
      addFromSlot(piece);
    } else {
      return Result.NO_ROOM;
    }
    total.placedBytes += piece.lengthBytes();
    return Result.PLACED;
  }

  private boolean isReady(FileWindow window) {
    return mode.fromWindows() && window != null && lease.share().canHold(window);
  }

  /**
   * Number of bytes at the beginning of the range to copy instead of registering their window; 0
   * when the window is registered or should be.
   */
  private long bytesToCopy(ServedOutput output, int index, long fileOffset, long lengthBytes) {
    if (mode.copyPolicy() == null || output.window(index) != null) {
      return 0;
    }
    long start = (long) index * mode.windowBytes();
    long windowBytes = Math.min(mode.windowBytes(), output.mapOutput().lengthBytes() - start);
    long bytes = Math.min(lengthBytes, start + windowBytes - fileOffset);
    return mode.copyPolicy().shouldCopy(output, index, windowBytes, bytes) ? bytes : 0;
  }

  /**
   * Whether the answer ends for lack of slots, because a registration makes the kernel write the
   * window to its disk again. The reader releases the slots of this answer or of others and
   * requests the rest. A reader that has none would wait for other readers, so its windows are
   * registered. While the lock was released for a slot, another thread may have registered the
   * window; that other threads may have copied out of it meanwhile does not count.
   */
  private boolean mustAwaitSlots(ServedOutput output, int index) {
    return lease.share().holdsSlots()
        && output.window(index) == null
        && mode.copyPolicy().countsWrite(output);
  }

  private void addFromSlot(Piece piece) {
    piecesFromSlots++;
    bytesFromSlots += piece.lengthBytes();
    piece.copied(true);
  }

  private boolean placeInWindow(
      ServedOutput output, long fileOffset, long lengthBytes, Piece piece, boolean mayBlock) {
    FileWindow window = files.lease(output, fileOffset, lease);
    boolean needsRoom =
        mayBlock
            && window == null
            && !isCancelled()
            && lease.share().hasRoomForWindows()
            && !files.isExcluded(output.mapOutput());
    if (needsRoom && slots != null && slots.trim(IdleMemory.MAX_REGIONS) > 0) {
      state.letOthersIn();
      window = isCancelled() ? null : files.lease(output, fileOffset, lease);
    }
    if (window == null) {
      return false;
    }
    int inWindow = (int) (fileOffset & (mode.windowBytes() - 1));
    int length = (int) Math.min(lengthBytes, mode.windowBytes() - inWindow);
    piece.set(window.address() + inWindow, window.remoteKey(), length);
    return true;
  }

  /** Ends the answer; a second call counts nothing. */
  void endAnswer(ShuffleCounters counters) {
    counters.add(Counter.PIECES_FROM_WINDOWS, piecesFromWindows);
    if (piecesFromSlots > 0) {
      counters.add(Counter.PIECES_FROM_SLOTS, piecesFromSlots);
      counters.add(Counter.BYTES_FROM_SLOTS, bytesFromSlots);
    }
    piecesFromWindows = 0;
    piecesFromSlots = 0;
    bytesFromSlots = 0;
    if (slotWriter != null) {
      slotWriter.close();
    }
  }
}
