// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.Checksum;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Checksums of the partitions of a block, in order, which verify it; {@link FetchedBlock} decides
 * what follows. Owned by one thread at a time.
 */
final class PartitionChecksums {
  /** Result of the verification. */
  enum Verdict {
    /** All checksums match. */
    MATCH,
    /** There are no checksums, or not for the whole block. */
    NO_SUMS,
    /** A checksum differs. */
    MISMATCH
  }

  /** No checksums. */
  static final PartitionChecksums NONE = new PartitionChecksums(Located.NO_CHECKSUM);

  private final int kind;

  /** Ends and checksums in turn. */
  private long[] entries = new long[2];

  private int count;

  /**
   * @param kind as {@link org.sparkrdma.shuffle.wire.Located#NO_CHECKSUM} and its companions
   */
  PartitionChecksums(int kind) {
    this.kind = kind;
  }

  /** Adds the checksum of the partition that ends at offset {@code end} of the block. */
  void add(long end, long sum) {
    if (2 * count == entries.length) {
      entries = Arrays.copyOf(entries, 2 * entries.length);
    }
    entries[2 * count] = end;
    entries[2 * count + 1] = sum;
    count++;
  }

  /** Verifies all bytes of a block. */
  Verdict verify(FetchedBlock block) {
    Checksum checksum = Located.newChecksum(kind);
    if (checksum == null) {
      return block.count() == 0 ? Verdict.MATCH : Verdict.NO_SUMS;
    }
    int partition = 0;
    long position = 0;
    for (int i = 0; i < block.count(); i++) {
      ByteBuffer bytes = block.view(i);
      int length = bytes.limit();
      while (bytes.position() < length) {
        if (partition == count) {
          return Verdict.NO_SUMS;
        }
        long end = entries[2 * partition];
        int step = (int) Math.min(end - position, length - bytes.position());
        checksum.update(bytes.limit(bytes.position() + step));
        position += step;
        if (position == end) {
          if (checksum.getValue() != entries[2 * partition + 1]) {
            return Verdict.MISMATCH;
          }
          checksum.reset();
          partition++;
        }
      }
    }
    return partition == count ? Verdict.MATCH : Verdict.NO_SUMS;
  }
}
