// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * RETURN: a reader returns one credit that the answer to a {@link Release} has granted. The message
 * takes the receive that was posted for the credit, since a posted receive cannot be taken back.
 *
 * <pre>
 *   0               1               2               3
 *  +---------------+---------------+---------------+---------------+
 *  | type = 7      | reserved = 0                                  |
 *  +---------------+---------------+---------------+---------------+
 * </pre>
 *
 * <p>It has no answer. Stateless.
 */
public final class ReturnedCredit {
  /** Bytes of the message. */
  public static final int LENGTH_BYTES = 4;

  private ReturnedCredit() {}

  /** Writes the message at index 0 of {@code target}; returns its length in bytes. */
  public static int encode(ByteBuffer target) {
    ByteBuffer out = target.order(ByteOrder.LITTLE_ENDIAN).clear();
    out.putInt(MessageType.RETURN.code());
    return out.position();
  }

  /**
   * Checks the message that fills {@code message} from its position to its limit.
   *
   * @throws MalformedMessageException when its length or a reserved byte is wrong
   */
  public static void check(ByteBuffer message) {
    ByteBuffer in = MessageType.RETURN.view(message, LENGTH_BYTES);
    if (in.remaining() != LENGTH_BYTES || in.getInt(0) != MessageType.RETURN.code()) {
      throw new MalformedMessageException("bad RETURN: lengthBytes=" + in.remaining());
    }
  }
}
