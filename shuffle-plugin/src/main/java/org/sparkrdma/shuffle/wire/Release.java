// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * RELEASE: a reader ends leases that no {@link Locate} has taken along. RELEASED answers it. All
 * fields little-endian. Stateless.
 *
 * <pre>
 *  RELEASE, 8 bytes and the leases         RELEASED, 8 bytes
 *   0  type = 3 (8 bit)                     0  type = 4 (8 bit)
 *   1  reserved = 0 (8 bit)                 1  reserved = 0 (56 bit)
 *   2  number of leases (16 bit)
 *   4  reserved = 0 (32 bit)
 *   8  leases (64 bit each)
 * </pre>
 */
public final class Release {
  private Release() {}

  /** Number of leases that fit into a RELEASE. */
  public static int maxLeases(int messageBytes) {
    return Math.min(0xFFFF, (messageBytes - Messages.HEADER_BYTES) / Long.BYTES);
  }

  /** Begins a RELEASE; the leases follow. */
  public static ByteBuffer begin(ByteBuffer out, int leases) {
    out.clear().order(ByteOrder.LITTLE_ENDIAN);
    return out.putLong(leases << Short.SIZE | Messages.RELEASE);
  }

  /**
   * Checks a RELEASE.
   *
   * @throws MalformedMessageException when its length does not fit its number of leases
   */
  public static void check(ByteBuffer message) {
    int leases =
        message.remaining() < Messages.HEADER_BYTES
            ? 0
            : message.slice().order(ByteOrder.LITTLE_ENDIAN).getShort(2) & 0xFFFF;
    Messages.view(message, Messages.HEADER_BYTES + leases * Long.BYTES);
  }

  /** The leases of a RELEASE. */
  public static long[] leases(ByteBuffer message) {
    check(message);
    ByteBuffer in = Messages.view(message, message.remaining());
    long[] released = new long[(in.remaining() - Messages.HEADER_BYTES) / Long.BYTES];
    in.position(Messages.HEADER_BYTES);
    in.asLongBuffer().get(released);
    return released;
  }

  /** Writes a RELEASED; returns its length in bytes. */
  public static int writeReleased(ByteBuffer out) {
    out.clear().order(ByteOrder.LITTLE_ENDIAN);
    out.putLong(Messages.RELEASED);
    return Messages.HEADER_BYTES;
  }

  /** Checks a RELEASED. */
  public static void checkReleased(ByteBuffer message) {
    if (Messages.view(message, Messages.HEADER_BYTES).getLong(0) != Messages.RELEASED) {
      throw new MalformedMessageException("bad RELEASED");
    }
  }
}
