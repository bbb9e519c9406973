// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import org.sparkrdma.shuffle.wire.Located;

/**
 * Iterates over the checksums of a block while its extents are written: an extent carries the
 * checksums of the ranges that end in it. Used by one thread at a time.
 */
public interface ExtentChecksums {
  /**
   * Maximum end of an extent whose checksums fit into the answer.
   *
   * @param at start of the extent in the file
   * @param end end of the block in the file
   * @return {@code at} when not even one checksum fits
   */
  long endOfFittingSums(long at, long end, int room);

  /** Number of checksums of the extents up to this offset of the file. */
  int countUntil(long end);

  /** Writes the next checksums and advances. */
  void write(Located.Encoder answer, long blockStart, int sums);
}
