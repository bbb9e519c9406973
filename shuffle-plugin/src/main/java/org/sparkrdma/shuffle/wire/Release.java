// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * RELEASE: a reader releases leases without a {@link Locate}, or asks for credits; and RELEASED,
 * its answer.
 *
 * <pre>
 *   0               1               2               3
 *  +---------------+---------------+---------------+---------------+
 *  | type = 3, 4   | credits       | leases (16 bit); RELEASED: 0  |
 *  +---------------+---------------+---------------+---------------+
 *  | reserved = 0                                                  |
 *  +---------------------------------------------------------------+
 *  | request id (64 bit)                                           |
 *  +---------------------------------------------------------------+
 *  | leases: 64 bit each                                           |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>Credits of a RELEASE: 1 when LOCATEs of the reader wait for a credit, else 0. Those of a
 * RELEASED: number of further LOCATEs that the reader may have open from now on.
 *
 * <p>All fields little-endian. The answer means that the server has posted a receive again.
 */
public final class Release {
  /** Bytes before the leases; the whole of a RELEASED. */
  public static final int HEADER_BYTES = 16;

  /** Maximum credits that one answer grants. */
  public static final int MAX_CREDITS = 255;

  private static final int CREDITS_AT = 1;

  private final ByteBuffer in;
  private final int leases;

  private Release(ByteBuffer in, int leases) {
    this.in = in;
    this.leases = leases;
  }

  /**
   * Views the RELEASE that fills {@code message} from its position to its limit.
   *
   * @throws MalformedMessageException when count and length do not match
   */
  public static Release decode(ByteBuffer message) {
    Release release = decode(message, MessageType.RELEASE);
    if (release.credits() > 1) {
      throw new MalformedMessageException("bad RELEASE: credits=" + release.credits());
    }
    return release;
  }

  /** Views a RELEASED; as {@link #decode}. */
  public static Release decodeAnswer(ByteBuffer message) {
    return decode(message, MessageType.RELEASED);
  }

  private static Release decode(ByteBuffer message, MessageType type) {
    ByteBuffer in = type.view(message, HEADER_BYTES);
    int leases = Short.toUnsignedInt(in.getShort(2));
    if (in.remaining() != HEADER_BYTES + leases * Long.BYTES) {
      throw new MalformedMessageException(
          "bad " + type + ": lengthBytes=" + in.remaining() + " leases=" + leases);
    }
    return new Release(in, leases);
  }

  /** Chosen by the reader; repeated in the answer. */
  public long requestId() {
    return in.getLong(8);
  }

  /** Whether LOCATEs of the reader wait for a credit. */
  public boolean requestsCredits() {
    return credits() != 0;
  }

  /** Credits that an answer grants: 0 to {@link #MAX_CREDITS}. */
  public int credits() {
    return Byte.toUnsignedInt(in.get(CREDITS_AT));
  }

  /** Number of released leases. */
  public int leaseCount() {
    return leases;
  }

  /** Id of the {@code i}-th released lease. */
  public long leaseId(int i) {
    return in.getLong(HEADER_BYTES + i * Long.BYTES);
  }

  /**
   * Writes the answer to a RELEASE at index 0 of {@code target}; returns its length in bytes.
   *
   * @param credits granted with it, 0 to {@link #MAX_CREDITS}
   */
  public static int encodeAnswer(ByteBuffer target, long requestId, int credits) {
    if (credits < 0 || credits > MAX_CREDITS) {
      throw new IllegalArgumentException("bad credits: " + credits);
    }
    ByteBuffer out = target.order(ByteOrder.LITTLE_ENDIAN).clear();
    out.putLong(MessageType.RELEASED.code()).putLong(requestId);
    out.put(CREDITS_AT, (byte) credits);
    return out.position();
  }

  /** Writes a RELEASE into a buffer: begin, leases, credits, finish. */
  public static final class Encoder {
    private ByteBuffer out;
    private int leases;

    /** Begins a message at index 0 of {@code target}, which is kept until {@link #finish}. */
    public Encoder begin(ByteBuffer target, long requestId) {
      out = target.order(ByteOrder.LITTLE_ENDIAN).clear();
      leases = 0;
      out.putLong(MessageType.RELEASE.code()).putLong(requestId);
      return this;
    }

    /** Whether another lease fits. */
    public boolean hasRoom() {
      return out.remaining() >= Long.BYTES && leases < 0xFFFF;
    }

    /** Number of leases so far. */
    public int leaseCount() {
      return leases;
    }

    /** Adds a lease. */
    public void lease(long leaseId) {
      out.putLong(leaseId);
      leases++;
    }

    /** Reports that LOCATEs wait for a credit. */
    public void requestCredits() {
      out.put(CREDITS_AT, (byte) 1);
    }

    /** Ends the message; returns its length in bytes. */
    public int finish() {
      out.putShort(2, (short) leases);
      return out.position();
    }
  }
}
