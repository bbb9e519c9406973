// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * HELLO: the first message in each direction of a connection whose engine shows no private data. It
 * carries what travels as private data elsewhere: a request, an answer or a refusal of {@link
 * Hello}.
 *
 * <pre>
 *   0               1               2               3
 *  +---------------+---------------+---------------+---------------+
 *  | type = 6      | reserved = 0                                  |
 *  +---------------+---------------+---------------+---------------+
 *  | request, answer or refusal, at most 56 bytes                  |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>Stateless.
 */
public final class HelloMessage {
  private static final int HEADER_BYTES = 4;

  private HelloMessage() {}

  /** Writes the message at index 0 of {@code target}; returns its length in bytes. */
  public static int encode(ByteBuffer target, byte[] content) {
    ByteBuffer out = target.order(ByteOrder.LITTLE_ENDIAN).clear();
    out.putInt(MessageType.HELLO.code());
    out.put(content);
    return out.position();
  }

  /**
   * Returns the content of the message that fills {@code message} from its position to its limit.
   *
   * @throws MalformedMessageException when its length is wrong
   */
  public static byte[] decode(ByteBuffer message) {
    ByteBuffer in = MessageType.HELLO.view(message, HEADER_BYTES);
    if (in.remaining() > HEADER_BYTES + Hello.LENGTH_BYTES) {
      throw new MalformedMessageException("bad HELLO: lengthBytes=" + in.remaining());
    }
    byte[] content = new byte[in.remaining() - HEADER_BYTES];
    in.get(HEADER_BYTES, content);
    return content;
  }
}
