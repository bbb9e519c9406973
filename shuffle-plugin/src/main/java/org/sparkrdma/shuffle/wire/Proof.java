// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;

/**
 * The proof in one message of a handshake: that its sender has the callee's key and has received
 * the messages before it, and that it is for this connection. Immutable.
 */
final class Proof {
  static final int BYTES = 20;

  /** Offset in a {@link Hello}, after the bytes that the proof covers. */
  static final int AT_OF_HELLO = Hello.LENGTH_BYTES - BYTES;

  private final byte[] bytes;

  private Proof(char message, byte[] key, ConnectionBinding binding, Hello... messages) {
    Mac mac = Hmac.withKey(key);
    mac.update((byte) message);
    mac.update(binding.encode());
    for (Hello hello : messages) {
      mac.update(hello.header());
    }
    bytes = Arrays.copyOf(mac.doFinal(), BYTES);
  }

  static Proof ofRequest(byte[] key, ConnectionBinding binding, Hello request) {
    return new Proof('C', key, binding, request);
  }

  static Proof ofAnswer(byte[] key, ConnectionBinding binding, Hello request, Hello answer) {
    return new Proof('A', key, binding, request, answer);
  }

  static Proof ofConfirm(byte[] key, ConnectionBinding binding, Hello request, Hello answer) {
    return new Proof('F', key, binding, request, answer);
  }

  void put(ByteBuffer out) {
    out.put(bytes);
  }

  /** Whether {@code message} contains this proof. Takes constant time. */
  boolean matches(byte[] message, int at) {
    return MessageDigest.isEqual(bytes, Arrays.copyOfRange(message, at, at + BYTES));
  }
}
