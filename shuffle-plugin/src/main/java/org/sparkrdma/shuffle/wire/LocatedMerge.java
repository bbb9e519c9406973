// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Puts the pieces of several LOCATEDs for one request into one message, in the order of their
 * blocks. For one thread.
 */
public final class LocatedMerge {
  private record Part(
      ByteBuffer message, int block, boolean located, long offset, int from, int lengthBytes) {}

  /** A piece that stands for the rest of its block follows the others. */
  private static final Comparator<Part> ORDER =
      Comparator.comparingInt(Part::block)
          .thenComparing(part -> !part.located())
          .thenComparingLong(Part::offset);

  private final List<Part> parts = new ArrayList<>();
  private final Located.Decoder decoder = new Located.Decoder();

  /**
   * Adds the pieces of a message.
   *
   * @param message from its position to its limit; kept until the end of {@link #write}
   */
  public void add(ByteBuffer message) {
    ByteBuffer whole = message.slice();
    decoder.begin(whole);
    while (decoder.nextPiece()) {
      int from = decoder.pieceStart();
      parts.add(
          new Part(
              whole,
              decoder.blockIndex(),
              decoder.kind() == Located.Kind.LOCATED,
              decoder.blockOffset(),
              from,
              decoder.pieceEnd() - from));
    }
  }

  /**
   * Writes the pieces into a message that has begun, as many as fit.
   *
   * @return number of them that send their blocks to TCP
   */
  public int write(Located.Encoder to) {
    parts.sort(ORDER);
    int byTcp = 0;
    for (Part part : parts) {
      if (!to.tryCopy(part.message, part.from, part.lengthBytes)) {
        return byTcp;
      }
      byTcp += part.located ? 0 : 1;
    }
    return byTcp;
  }
}
