// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The types of messages, and the layouts of the release of leases and of the refusal of a set-up;
 * {@link SetupMessages}, {@link Locate} and {@link Located} have those of the others. All fields
 * little-endian; the first byte of each message is its type. Stateless.
 *
 * <pre>
 *  RELEASE, 8 bytes and the leases         RELEASED, 8 bytes
 *   0  type = 3 (8 bit)                     0  type = 4 (8 bit)
 *   1  reserved = 0 (8 bit)                 1  reserved = 0 (56 bit)
 *   2  number of leases (16 bit)
 *   4  reserved = 0 (32 bit)               REFUSAL, 8 bytes
 *   8  leases (64 bit each)                 0  type = 11 (8 bit)
 *                                           1  version (8 bit)
 *                                           2  reason (8 bit)
 *                                           3  reserved = 0 (40 bit)
 * </pre>
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

  static final int HEADER_BYTES = 8;

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

  static ByteBuffer begin(ByteBuffer out, int type) {
    out.clear().order(ByteOrder.LITTLE_ENDIAN);
    return out.putLong(PROTOCOL << Byte.SIZE | type);
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
