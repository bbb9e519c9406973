// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.wire;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Splits the bytes of a {@link Link} into frames; keeps none. Confined to the device thread. */
public final class FrameParser {
  private final FrameHandler frames;
  private final FrameHeader header = new FrameHeader();
  private int payloadLeft;
  private boolean discarding;

  FrameParser(FrameHandler frames) {
    this.frames = frames;
  }

  /**
   * Passes all bytes of the buffer to the handler, except an incomplete header, which stays in it.
   *
   * @throws IOException when the bytes are no frame, or the handler throws it
   */
  void parse(ByteBuffer in) throws IOException {
    boolean more = true;
    while (more) {
      if (discarding) {
        in.position(in.limit());
        more = false;
      } else if (payloadLeft > 0) {
        more = in.hasRemaining();
        if (more) {
          takePayload(in);
        }
      } else {
        more = in.remaining() >= FrameHeader.BYTES;
        if (more) {
          takeHeader(in);
        }
      }
    }
  }

  private void takeHeader(ByteBuffer in) throws IOException {
    header.decode(in);
    payloadLeft = header.length;
    frames.onFrame(header);
    endFrame();
  }

  private void takePayload(ByteBuffer in) throws IOException {
    int end = in.limit();
    int count = Math.min(payloadLeft, in.remaining());
    in.limit(in.position() + count);
    int after = in.limit();
    frames.onPayload(header, in);
    in.limit(end).position(after);
    payloadLeft -= count;
    endFrame();
  }

  private void endFrame() throws IOException {
    if (payloadLeft == 0 && !discarding) {
      frames.onFrameEnd(header);
    }
  }

  /** Whether the last frame is complete. */
  boolean awaitsHeader() {
    return payloadLeft == 0;
  }

  /** Drops everything from now on. */
  void discard() {
    discarding = true;
  }
}
