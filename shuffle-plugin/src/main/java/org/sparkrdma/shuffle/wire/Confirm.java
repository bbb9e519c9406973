// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * CONFIRM: the last message of a handshake, and the first that is sent on a connection. By it the
 * initiator proves that it has seen the responder's nonce, so that the request is not a replay.
 *
 * <pre>
 *   0               1               2               3
 *  +---------------+---------------+---------------+---------------+
 *  | type = 5      | reserved = 0                                  |
 *  +---------------+---------------+---------------+---------------+
 *  | proof (160 bit), see {@link Hello}                            |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>It has no answer. Stateless.
 */
public final class Confirm {
  /** Bytes of the message. */
  public static final int LENGTH_BYTES = 4 + Proof.BYTES;

  private Confirm() {}

  /** Writes the message at index 0 of {@code target}; returns its length in bytes. */
  public static int encode(
      ByteBuffer target, byte[] calleeKey, ConnectionBinding binding, Hello request, Hello answer) {
    ByteBuffer out = target.order(ByteOrder.LITTLE_ENDIAN).clear();
    out.putInt(MessageType.CONFIRM.code());
    Proof.ofConfirm(calleeKey, binding, request, answer).put(out);
    return out.position();
  }

  /**
   * Whether the message that fills {@code message} from its position to its limit proves who sends
   * it.
   *
   * @throws MalformedMessageException when its length is wrong
   */
  public static boolean isProven(
      ByteBuffer message,
      byte[] calleeKey,
      ConnectionBinding binding,
      Hello request,
      Hello answer) {
    ByteBuffer in = MessageType.CONFIRM.view(message, LENGTH_BYTES);
    if (in.remaining() != LENGTH_BYTES) {
      throw new MalformedMessageException("bad CONFIRM: lengthBytes=" + in.remaining());
    }
    byte[] bytes = new byte[LENGTH_BYTES];
    in.get(bytes);
    return Proof.ofConfirm(calleeKey, binding, request, answer)
        .matches(bytes, LENGTH_BYTES - Proof.BYTES);
  }
}
