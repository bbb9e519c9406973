// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;

/**
 * The messages of a connection's set-up, which prove each end to the other, or refuse that of the
 * caller. Stateless.
 *
 * <pre>
 *  REQUEST, 72 bytes                       REPLY, 56 bytes
 *   0  type = 8 (8 bit)                     0  type = 9 (8 bit)
 *   1  version (8 bit)                      1  version (8 bit)
 *   2  reserved = 0 (48 bit)                2  reserved = 0 (48 bit)
 *   8  incarnation of the callee (64 bit)   8  nonce of the callee (128 bit)
 *  16  incarnation of the caller (64 bit)  24  proof (256 bit)
 *  24  nonce of the caller (128 bit)
 *  40  proof (256 bit)                     CONFIRM, 40 bytes
 *                                           0  type = 10 (8 bit)
 *                                           1  version (8 bit)
 *                                           2  reserved = 0 (48 bit)
 *  REFUSAL, 8 bytes                         8  proof (256 bit)
 *   0  type = 11 (8 bit)
 *   1  version (8 bit)
 *   2  reason (8 bit)
 *   3  reserved = 0 (40 bit)
 * </pre>
 *
 * <p>A proof is an HMAC-SHA-256 (RFC 2104) with the callee's key over a letter that names the
 * message, the {@link ConnectionBinding}, the first 40 bytes of the REQUEST and, except for the
 * REQUEST, the first 24 of the REPLY. Only executors that received the key from the driver can make
 * it, so an old endpoint, another application on a port used again and a stranger fail the same
 * check. A recorded REQUEST cannot be confirmed, because the CONFIRM covers the callee's nonce, and
 * no proof fits another message or direction.
 */
public final class SetupMessages {
  public static final int NONCE_BYTES = 16;
  public static final int REQUEST_BYTES = 72;
  public static final int REPLY_BYTES = 56;
  public static final int CONFIRM_BYTES = 40;
  private static final int PROOF_BYTES = 32;

  /** Reason of a REFUSAL. */
  public enum Refusal {
    /** Another version of the protocol. */
    VERSION(1),
    /** The incarnation is not that of this executor: an old endpoint, or a port used again. */
    INCARNATION(2),
    /** The proof is wrong. */
    PROOF(3),
    /** Not a REQUEST at all. */
    MALFORMED(5);

    private final byte code;

    Refusal(int code) {
      this.code = (byte) code;
    }
  }

  private SetupMessages() {}

  /** The header of a REQUEST, which proofs cover. */
  public static byte[] request(long calleeIncarnation, long callerIncarnation, byte[] nonce) {
    ByteBuffer out =
        Messages.begin(ByteBuffer.allocate(REQUEST_BYTES - PROOF_BYTES), Messages.REQUEST);
    return out.putLong(calleeIncarnation).putLong(callerIncarnation).put(nonce).array();
  }

  /** The header of a REPLY, which proofs cover. */
  public static byte[] reply(byte[] nonce) {
    return Messages.begin(ByteBuffer.allocate(REPLY_BYTES - PROOF_BYTES), Messages.REPLY)
        .put(nonce)
        .array();
  }

  /** The header of a CONFIRM, which has no field. */
  public static byte[] confirm() {
    return Messages.begin(ByteBuffer.allocate(CONFIRM_BYTES - PROOF_BYTES), Messages.CONFIRM)
        .array();
  }

  /** The proof of a message by the headers of the set-up so far. */
  public static byte[] proof(int type, byte[] key, ConnectionBinding binding, byte[]... headers) {
    Mac mac = Hmac.withKey(key);
    mac.update((byte) (type == Messages.REQUEST ? 'C' : type == Messages.REPLY ? 'A' : 'F'));
    mac.update(binding.encode());
    for (byte[] header : headers) {
      mac.update(header);
    }
    return mac.doFinal();
  }

  /** Whether a message ends with this proof; takes constant time. */
  public static boolean hasProof(byte[] message, byte[] proof) {
    return MessageDigest.isEqual(
        proof, Arrays.copyOfRange(message, message.length - PROOF_BYTES, message.length));
  }

  /** The bytes that proofs cover of a message that ends with a proof. */
  public static byte[] header(byte[] message) {
    return Arrays.copyOf(message, message.length - PROOF_BYTES);
  }

  /** Writes a header with its proof; returns the length of the message. */
  public static int write(ByteBuffer out, byte[] header, byte[] proof) {
    out.clear().put(header).put(proof);
    return out.position();
  }

  /** The version of a set-up message; 0 when it is too short. */
  public static int version(ByteBuffer message) {
    return message.remaining() < Messages.HEADER_BYTES ? 0 : message.get(message.position() + 1);
  }

  /** Writes a REFUSAL; returns its length in bytes. */
  public static int writeRefusal(ByteBuffer out, Refusal reason) {
    Messages.begin(out, Messages.REFUSAL).put(2, reason.code);
    return Messages.HEADER_BYTES;
  }

  /** The reason of a REFUSAL; {@link Refusal#MALFORMED} when it is not known. */
  public static Refusal refusal(ByteBuffer message) {
    byte code = Messages.view(message, Messages.HEADER_BYTES).get(2);
    for (Refusal reason : Refusal.values()) {
      if (reason.code == code) {
        return reason;
      }
    }
    return Refusal.MALFORMED;
  }
}
