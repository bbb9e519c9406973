// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The types of messages, and what their layouts have in common: {@link SetupMessages}, {@link
 * Locate}, {@link Located} and {@link Release} have these. All fields little-endian; the first byte
 * of each message is its type. Stateless.
 */
public final class Messages {
  /** Version of the layouts. */
  public static final int PROTOCOL = 6;

  public static final int LOCATE = 1;
  public static final int LOCATED = 2;
  public static final int RELEASE = 3;
  public static final int RELEASED = 4;
  public static final int REQUEST = 8;
  public static final int REPLY = 9;
  public static final int CONFIRM = 10;
  public static final int REFUSAL = 11;

  /**
   * First byte of the private data with which an executor rejects a connection for which it has no
   * room now. Without it, the peer's host has rejected: no executor listens there.
   */
  public static final byte FULL = 12;

  static final int HEADER_BYTES = 8;

  private Messages() {}

  /** Type of a message; 0 when it is empty. */
  public static int type(ByteBuffer message) {
    return message.hasRemaining() ? message.get(message.position()) : 0;
  }

  /** A little-endian view of a message at position 0, after checks of type and minimum length. */
  static ByteBuffer view(int type, ByteBuffer message, int minBytes) {
    if (message.remaining() < minBytes || type(message) != type) {
      throw new MalformedMessageException(
          "bad message: type=" + type(message) + " lengthBytes=" + message.remaining());
    }
    return message.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A little-endian view of a message from index 0 on, after a check of its length. */
  public static ByteBuffer view(ByteBuffer message, int lengthBytes) {
    if (message.remaining() != lengthBytes) {
      throw new MalformedMessageException(
          "bad message: type=" + type(message) + " lengthBytes=" + message.remaining());
    }
    return message.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  static ByteBuffer begin(ByteBuffer out, int type) {
    out.clear().order(ByteOrder.LITTLE_ENDIAN);
    return out.putLong(PROTOCOL << Byte.SIZE | type);
  }
}
