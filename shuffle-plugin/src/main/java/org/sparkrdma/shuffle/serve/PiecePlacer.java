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
    if (mode.copyPolicy() != null
        && copyRatherThanRegister(output, fileOffset, lengthBytes, piece)) {
      piecesFromSlots++;
      bytesFromSlots += piece.lengthBytes();
      piece.copied(true);
    } else if (mode.copyPolicy() != null && mustAwaitSlots(output, fileOffset, lengthBytes)) {
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
      piecesFromSlots++;
      bytesFromSlots += piece.lengthBytes();
      piece.copied(true);
    } else {
      return Result.NO_ROOM;
    }
    total.placedBytes += piece.lengthBytes();
    return Result.PLACED;
  }

  private boolean isReady(FileWindow window) {
    return mode.fromWindows() && window != null && lease.share().canHold(window);
  }

  private boolean copyRatherThanRegister(
      ServedOutput output, long fileOffset, long lengthBytes, Piece piece) throws IOException {
    int index = ServingMode.windowIndex(fileOffset, mode.windowBytes());
    if (output.window(index) != null) {
      return false;
    }
    long requested = requested(output, index, fileOffset, lengthBytes);
    if (!shouldCopy(output, index, requested)
        || !slotWriter.copy(output, fileOffset, requested, lease, piece)) {
      return false;
    }
    mode.copyPolicy().copied(output, index, piece.lengthBytes());
    return true;
  }

  /**
   * Whether the answer ends for lack of slots, because a registration makes the kernel write the
   * window to its disk again. The reader releases the slots of this answer or of others and
   * requests the rest. A reader that has none would wait for other readers, so its windows are
   * registered.
   */
  private boolean mustAwaitSlots(ServedOutput output, long fileOffset, long lengthBytes) {
    int index = ServingMode.windowIndex(fileOffset, mode.windowBytes());
    return lease.share().holdsSlots()
        && output.window(index) == null
        && mode.copyPolicy().countsWrite(output)
        && shouldCopy(output, index, requested(output, index, fileOffset, lengthBytes));
  }

  private boolean shouldCopy(ServedOutput output, int index, long requestedBytes) {
    return mode.copyPolicy().shouldCopy(output, index, windowLength(output, index), requestedBytes);
  }

  private long windowLength(ServedOutput output, int index) {
    long start = (long) index * mode.windowBytes();
    return Math.min(mode.windowBytes(), output.mapOutput().lengthBytes() - start);
  }

  /** Length of the part of the range that is in its first window. */
  private long requested(ServedOutput output, int index, long fileOffset, long lengthBytes) {
    long end = (long) index * mode.windowBytes() + windowLength(output, index);
    return Math.min(lengthBytes, end - fileOffset);
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
