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

import java.io.IOException;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.verbs.Device;

/**
 * Makes a range of a file readable for a peer: in a registered window, or else as a copy in a slot,
 * as the mode allows.
 *
 * <p>The bytes registered for one answer are limited, so that other peers wait only a few
 * milliseconds. On the server's thread.
 */
final class Placement {
  /** Enough for a request of Spark's usual size; the reader requests the rest again. */
  static final long MAX_ANSWER_BYTES = 64L << 20;

  private final RegisteredFiles files;
  private final CopySlots slots;
  private final boolean fromWindows;
  private final int windowBytes;
  private final CopyOrRegisterPolicy copyPolicy;
  private final ShuffleCounters counters;

  private Lease lease;
  private long registeredBefore;
  private long placedBytes;
  private int piecesFromWindows;
  private int piecesFromSlots;

  /**
   * @param slots null when copying is off
   */
  Placement(
      ServeSettings settings,
      Device device,
      RegisteredFiles files,
      CopySlots slots,
      ShuffleCounters counters) {
    this.files = files;
    this.slots = slots;
    this.fromWindows = settings.registersFiles(device);
    this.windowBytes = settings.windowBytes();
    // Registration without pinning is cheap.
    boolean pinned = fromWindows && !settings.pagesOnDemand(device);
    boolean both = pinned && slots != null && settings.copiesFirst();
    this.copyPolicy = both ? new CopyOrRegisterPolicy(device.info().transport()) : null;
    this.counters = counters;
  }

  /** Begins an answer, whose pieces are held by {@code newLease}. */
  void beginAnswer(Lease newLease) {
    lease = newLease;
    registeredBefore = files.registeredBytes();
    placedBytes = 0;
    piecesFromWindows = 0;
    piecesFromSlots = 0;
  }

  /** Whether this answer has reached its limit of bytes. */
  boolean answerLimitReached() {
    return placedBytes >= MAX_ANSWER_BYTES
        || files.registeredBytes() - registeredBefore >= MAX_ANSWER_BYTES;
  }

  /** Whether this answer has at least one piece. */
  boolean hasPlaced() {
    return placedBytes > 0;
  }

  /**
   * Makes the beginning of a range readable, as much of it as is contiguous.
   *
   * @return false when there is no memory now
   * @throws IOException when the file cannot be read
   */
  boolean place(ServedOutput output, long fileOffset, long lengthBytes, Piece piece)
      throws IOException {
    if (copyPolicy != null && copyUnlessWorthAWindow(output, fileOffset, lengthBytes, piece)) {
      piecesFromSlots++;
    } else if (fromWindows && placeInWindow(output, fileOffset, lengthBytes, piece)) {
      piecesFromWindows++;
    } else if (slots != null && slots.copy(output, fileOffset, lengthBytes, lease, piece)) {
      piecesFromSlots++;
    } else {
      return false;
    }
    placedBytes += piece.lengthBytes();
    return true;
  }

  private boolean copyUnlessWorthAWindow(
      ServedOutput output, long fileOffset, long lengthBytes, Piece piece) throws IOException {
    int index = (int) (fileOffset / windowBytes);
    if (output.window(index) != null) {
      return false;
    }
    long start = (long) index * windowBytes;
    long length = Math.min(windowBytes, output.mapOutput().lengthBytes() - start);
    long asked = Math.min(lengthBytes, start + length - fileOffset);
    if (!copyPolicy.shouldCopy(output, index, length, asked)
        || !slots.copy(output, fileOffset, asked, lease, piece)) {
      return false;
    }
    copyPolicy.copied(output, index, piece.lengthBytes());
    return true;
  }

  private boolean placeInWindow(
      ServedOutput output, long fileOffset, long lengthBytes, Piece piece) {
    FileWindow window = files.lease(output, fileOffset, lease);
    boolean wantsRoom = window == null && lease.share().hasRoomForWindows();
    if (wantsRoom && slots != null && slots.trim()) {
      window = files.lease(output, fileOffset, lease);
    }
    if (window == null) {
      return false;
    }
    int inWindow = (int) (fileOffset & (windowBytes - 1));
    int length = (int) Math.min(lengthBytes, windowBytes - inWindow);
    piece.set(window.address() + inWindow, window.remoteKey(), length);
    return true;
  }

  /** Ends the answer. */
  void endAnswer() {
    lease = null;
    counters.add(Counter.PIECES_FROM_WINDOWS, piecesFromWindows);
    if (piecesFromSlots > 0) {
      counters.add(Counter.PIECES_FROM_SLOTS, piecesFromSlots);
    }
    if (slots != null) {
      slots.endAnswer();
    }
  }
}
