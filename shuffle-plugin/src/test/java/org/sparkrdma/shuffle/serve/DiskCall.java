// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/** A LOCATE for one block of each of several map outputs, with what is in its answer. */
final class DiskCall extends TestLocateCall {
  private static final int PIECES_BYTES = 1000;
  private static final byte OTHER = 77;

  private int answers;
  private int lengthBytes;
  private volatile boolean closed;

  DiskCall(long peer, int... shuffles) {
    this(peer, shuffles, PIECES_BYTES);
  }

  /**
   * @param shuffles of the map outputs, whose map ids are 0, 1, ...
   * @param piecesBytes room of the answer for pieces
   */
  DiskCall(long peer, int[] shuffles, int piecesBytes) {
    super(peer, ByteBuffer.allocate(1000), ByteBuffer.allocate(Located.HEADER_BYTES + piecesBytes));
    Locate.Encoder encoder = new Locate.Encoder().begin(request(), 1);
    for (int i = 0; i < shuffles.length; i++) {
      encoder.block(shuffles[i], i, 0, 1, 0, false);
    }
    int length = encoder.finish();
    request().position(0).limit(length);
  }

  /** A LOCATE whose answer has room for three located blocks. */
  static DiskCall withRoomForThree(long peer, int... shuffles) {
    return new DiskCall(peer, shuffles, 3 * (Located.PIECE_BYTES + Located.SUM_BYTES));
  }

  /** Number of answers so far. */
  int answers() {
    return answers;
  }

  private Located.Decoder decoder() {
    assertThat(answers).isEqualTo(1);
    return new Located.Decoder().begin(answer().slice(0, lengthBytes));
  }

  long leaseId() {
    return decoder().leaseId();
  }

  long remainingMs() {
    return decoder().leaseRemainingMs();
  }

  List<Located.Kind> kinds() {
    List<Located.Kind> kinds = new ArrayList<>();
    for (Located.Decoder in = decoder(); in.nextPiece(); ) {
      kinds.add(in.kind());
    }
    return kinds;
  }

  List<Integer> blocks() {
    List<Integer> blocks = new ArrayList<>();
    for (Located.Decoder in = decoder(); in.nextPiece(); ) {
      blocks.add(in.blockIndex());
    }
    return blocks;
  }

  boolean isHeldBack() {
    Located.Decoder in = decoder();
    return in.nextPiece() && in.isHeldBack();
  }

  boolean isDelayedByServerLoad() {
    Located.Decoder in = decoder();
    return in.nextPiece() && in.isDelayedByServerLoad();
  }

  /** Overwrites request and answer, which belong to others once it is answered. */
  void useBuffersForSomethingElse() {
    for (ByteBuffer buffer : List.of(request(), answer())) {
      for (int i = 0; i < buffer.limit(); i++) {
        buffer.put(i, OTHER);
      }
    }
  }

  /** Whether nothing was written into the answer since then. */
  boolean isUntouched() {
    for (int i = 0; i < answer().capacity(); i++) {
      if (answer().get(i) != OTHER) {
        return false;
      }
    }
    return true;
  }

  /** Its connection has ended. */
  void close() {
    closed = true;
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public void answered(int newLengthBytes) {
    answers++;
    lengthBytes = newLengthBytes;
  }

  @Override
  public void malformed(String reason) {
    throw new AssertionError(reason);
  }
}
