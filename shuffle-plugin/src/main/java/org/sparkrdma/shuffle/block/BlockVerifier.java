/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.block;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * Compares a block with the checksums that Spark recorded when it was written, partition by
 * partition. Stateless; safe for any thread.
 */
public final class BlockVerifier {
  /** How a comparison ended. */
  public enum Verdict {
    /** Every partition's sum matches. */
    MATCH,
    /** There is no sum, or not for all of it. */
    NO_SUMS,
    /** A sum differs. */
    MISMATCH
  }

  private BlockVerifier() {}

  /**
   * Verifies a block.
   *
   * @param segments the block's bytes in order
   * @param checksumKind as {@link org.sparkrdma.shuffle.wire.Located#NO_CHECKSUM} and its
   *     companions
   */
  public static Verdict verify(
      List<Segment> segments, long blockBytes, PartitionSums sums, int checksumKind) {
    Checksum checksum = checksum(checksumKind);
    if (checksum == null || !sums.cover(blockBytes)) {
      return blockBytes == 0 ? Verdict.MATCH : Verdict.NO_SUMS;
    }
    int partition = 0;
    long position = 0;
    for (Segment segment : segments) {
      ByteBuffer bytes = segment.bytes();
      while (bytes.hasRemaining()) {
        long toEnd = sums.end(partition) - position;
        int step = (int) Math.min(toEnd, bytes.remaining());
        int limit = bytes.limit();
        checksum.update(bytes.limit(bytes.position() + step));
        bytes.limit(limit);
        position += step;
        if (step == toEnd) {
          if (checksum.getValue() != sums.sum(partition)) {
            return Verdict.MISMATCH;
          }
          checksum.reset();
          partition++;
        }
      }
    }
    return Verdict.MATCH;
  }

  private static Checksum checksum(int kind) {
    return switch (kind) {
      case 1 -> new Adler32();
      case 2 -> new CRC32();
      case 3 -> new CRC32C();
      default -> null;
    };
  }
}
