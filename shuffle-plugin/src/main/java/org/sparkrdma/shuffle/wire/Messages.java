// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;

/**
 * The messages of a connection's set-up and the release of leases; {@link Locate} and {@link
 * Located} have their own classes. All fields little-endian; the first byte of each message is its
 * type. Stateless.
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
 *  REFUSAL, 8 bytes                         1  version (8 bit)
 *   0  type = 11 (8 bit)                    2  reserved = 0 (48 bit)
 *   1  version (8 bit)                      8  proof (256 bit)
 *   2  reason (8 bit)
 *   3  reserved = 0 (40 bit)               RELEASED, 8 bytes
 *                                           0  type = 4 (8 bit)
 *  RELEASE, 8 bytes and the leases          1  reserved = 0 (56 bit)
 *   0  type = 3 (8 bit)
 *   1  reserved = 0 (8 bit)
 *   2  number of leases (16 bit)
 *   4  reserved = 0 (32 bit)
 *   8  leases (64 bit each)
 * </pre>
 *
 * <p>A proof is an HMAC-SHA-256 (RFC 2104) with the callee's key over a letter that names the
 * message, the {@link ConnectionBinding}, the first 40 bytes of the REQUEST and, except for the
 * REQUEST, the first 24 of the REPLY. Only executors that received the key from the driver can make
 * it, so an old endpoint, another application on a port used again and a stranger fail the same
 * check. A recorded REQUEST cannot be confirmed, because the CONFIRM covers the callee's nonce, and
 * no proof fits another message or direction.
 */
public final class Messages {
  /** Version of these layouts and of LOCATE and LOCATED. */
  public static final int PROTOCOL = 5;

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

  public static final int NONCE_BYTES = 16;
  public static final int REQUEST_BYTES = 72;
  public static final int REPLY_BYTES = 56;
  public static final int CONFIRM_BYTES = 40;
  private static final int HEADER_BYTES = 8;
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

  private static ByteBuffer begin(ByteBuffer out, int type) {
    out.clear().order(ByteOrder.LITTLE_ENDIAN);
    return out.putLong(PROTOCOL << Byte.SIZE | type);
  }

  /** The header of a REQUEST, which proofs cover. */
  public static byte[] request(long calleeIncarnation, long callerIncarnation, byte[] nonce) {
    ByteBuffer out = begin(ByteBuffer.allocate(REQUEST_BYTES - PROOF_BYTES), REQUEST);
    return out.putLong(calleeIncarnation).putLong(callerIncarnation).put(nonce).array();
  }

  /** The header of a REPLY, which proofs cover. */
  public static byte[] reply(byte[] nonce) {
    return begin(ByteBuffer.allocate(REPLY_BYTES - PROOF_BYTES), REPLY).put(nonce).array();
  }

  /** The header of a CONFIRM, which has no field. */
  public static byte[] confirm() {
    return begin(ByteBuffer.allocate(CONFIRM_BYTES - PROOF_BYTES), CONFIRM).array();
  }

  /** The proof of a message by the headers of the set-up so far. */
  public static byte[] proof(int type, byte[] key, ConnectionBinding binding, byte[]... headers) {
    Mac mac = Hmac.withKey(key);
    mac.update((byte) (type == REQUEST ? 'C' : type == REPLY ? 'A' : 'F'));
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
    return message.remaining() < HEADER_BYTES ? 0 : message.get(message.position() + 1);
  }

  public static int writeRefusal(ByteBuffer out, Refusal reason) {
    begin(out, REFUSAL).put(2, reason.code);
    return HEADER_BYTES;
  }

  /** The reason of a REFUSAL; {@link Refusal#MALFORMED} when it is not known. */
  public static Refusal refusal(ByteBuffer message) {
    byte code = view(message, HEADER_BYTES).get(2);
    for (Refusal reason : Refusal.values()) {
      if (reason.code == code) {
        return reason;
      }
    }
    return Refusal.MALFORMED;
  }

  /** Number of leases that fit into a RELEASE. */
  public static int maxLeases(int messageBytes) {
    return Math.min(0xFFFF, (messageBytes - HEADER_BYTES) / Long.BYTES);
  }

  /** Begins a RELEASE; the leases follow. */
  public static ByteBuffer beginRelease(ByteBuffer out, int leases) {
    out.clear().order(ByteOrder.LITTLE_ENDIAN);
    return out.putLong(leases << Short.SIZE | RELEASE);
  }

  /**
   * Checks a RELEASE.
   *
   * @throws MalformedMessageException when its length does not fit its number of leases
   */
  public static void checkRelease(ByteBuffer message) {
    int leases =
        message.remaining() < HEADER_BYTES
            ? 0
            : message.slice().order(ByteOrder.LITTLE_ENDIAN).getShort(2) & 0xFFFF;
    view(message, HEADER_BYTES + leases * Long.BYTES);
  }

  /** The leases of a RELEASE. */
  public static long[] releasedLeases(ByteBuffer message) {
    checkRelease(message);
    ByteBuffer in = view(message, message.remaining());
    long[] released = new long[(in.remaining() - HEADER_BYTES) / Long.BYTES];
    in.position(HEADER_BYTES);
    in.asLongBuffer().get(released);
    return released;
  }

  public static int writeReleased(ByteBuffer out) {
    out.clear().order(ByteOrder.LITTLE_ENDIAN);
    out.putLong(RELEASED);
    return HEADER_BYTES;
  }

  public static void checkReleased(ByteBuffer message) {
    if (view(message, HEADER_BYTES).getLong(0) != RELEASED) {
      throw new MalformedMessageException("bad RELEASED");
    }
  }
}
