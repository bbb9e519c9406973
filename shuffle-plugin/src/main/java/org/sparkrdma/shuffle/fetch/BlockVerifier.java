// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.nio.ByteBuffer;
import java.util.zip.Checksum;
import org.sparkrdma.shuffle.wire.ChecksumKind;

/**
 * Verifies a block, fed from front to back, with the checksums of its partitions. Owned by one
 * thread at a time.
 */
final class BlockVerifier {
  /** Result of the verification. */
  enum Verdict {
    /** All checksums match. */
    MATCH,
    /** There are no checksums, or not for the whole block. */
    NO_SUMS,
    /** A checksum differs. */
    MISMATCH
  }

  private final Checksum checksum;
  private final PartitionChecksums sums;
  private int partition;
  private long position;
  private boolean mismatch;

  /**
   * @param checksumKind as {@link org.sparkrdma.shuffle.wire.Located#NO_CHECKSUM} and its
   *     companions
   * @param sums of the block; a partition's checksum must be added before the bytes after its end
   *     are fed
   */
  BlockVerifier(int checksumKind, PartitionChecksums sums) {
    this.checksum = ChecksumKind.newChecksum(checksumKind);
    this.sums = sums;
  }

  /** Adds the next bytes of the block: the remaining bytes of the buffer. */
  void feed(ByteBuffer bytes) {
    if (checksum == null || mismatch) {
      position += bytes.remaining();
      return;
    }
    while (bytes.hasRemaining()) {
      boolean known = partition < sums.count();
      long toEnd = known ? sums.end(partition) - position : Long.MAX_VALUE;
      int step = (int) Math.min(toEnd, bytes.remaining());
      int limit = bytes.limit();
      checksum.update(bytes.limit(bytes.position() + step));
      bytes.limit(limit);
      position += step;
      if (step == toEnd) {
        mismatch |= checksum.getValue() != sums.sum(partition);
        checksum.reset();
        partition++;
      }
    }
  }

  /** The result, after the whole block was fed. */
  Verdict verdict() {
    if (mismatch) {
      return Verdict.MISMATCH;
    }
    if (position == 0) {
      return Verdict.MATCH;
    }
    return checksum != null && partition == sums.count() && sums.cover(position)
        ? Verdict.MATCH
        : Verdict.NO_SUMS;
  }
}
