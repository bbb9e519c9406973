// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** Numbers in {@link Located} of Spark's checksum algorithms. */
public final class ChecksumKind {
  /** The fastest, used for computed checksums by default. */
  public static final int CRC32C_KIND = 3;

  private ChecksumKind() {}

  /** Number of an algorithm by Spark's name of it. */
  public static int named(String algorithm) {
    return switch (algorithm) {
      case "ADLER32" -> 1;
      case "CRC32" -> 2;
      case "CRC32C" -> CRC32C_KIND;
      default -> Located.NO_CHECKSUM;
    };
  }

  /** A new checksum; null for {@link Located#NO_CHECKSUM}. */
  public static Checksum newChecksum(int kind) {
    return switch (kind) {
      case 1 -> new Adler32();
      case 2 -> new CRC32();
      case CRC32C_KIND -> new CRC32C();
      default -> null;
    };
  }
}
