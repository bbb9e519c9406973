// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Types and layout of the frames on a socket: the set-up of a connection, and the wake-up of a peer
 * that sleeps. Messages do not pass through the socket, and its end is the end of the connection.
 *
 * <pre>
 *  0  type (8 bit), 0 (24 bit)     4  length of the body, little-endian     8  body
 *  0  WAKE (8 bit)
 * </pre>
 */
final class Frame {
  static final int HEADER_BYTES = 8;
  static final int MAX_BODY_BYTES = LinkHello.MAX_BYTES;

  static final byte REQUEST = 1;
  static final byte REPLY = 2;
  static final byte REJECT = 3;
  static final byte REFUSED = 4;
  static final byte READY = 5;
  static final byte WAKE = 7;

  private Frame() {}

  /**
   * The next frame that is whole, at the position of its body, or null; skips wake-ups.
   *
   * @throws ProtocolException when the bytes are no frame
   */
  static ByteBuffer next(ByteBuffer in) throws ProtocolException {
    while (in.hasRemaining() && in.get(in.position()) == WAKE) {
      in.get();
    }
    if (in.remaining() < HEADER_BYTES) {
      return null;
    }
    int at = in.position();
    int type = in.getInt(at);
    int length = in.getInt(at + 4);
    if (type < REQUEST || type > READY || length < 0 || length > MAX_BODY_BYTES) {
      throw new ProtocolException("bad frame header: type=" + type + " lengthBytes=" + length);
    }
    if (in.remaining() < HEADER_BYTES + length) {
      return null;
    }
    in.position(at + HEADER_BYTES + length);
    return in.slice(at, HEADER_BYTES + length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .position(HEADER_BYTES);
  }
}
