// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;

/**
 * What is common to the loads of a server.
 *
 * @param checksumKind of its answers
 * @param computeSums whether checksums that are not recorded are computed
 */
record LoadContext(
    MapOutputs source,
    CopyMemory memory,
    DiskWork work,
    int chunkBytes,
    int checksumKind,
    boolean computeSums) {
  /** A checksum is computed for each cell of a block; it fits into a chunk of any size in use. */
  private static final int CELL_BYTES = 256 << 10;

  /** Whether the checksums of a block are computed from the bytes that are served. */
  boolean computes(boolean freshSums, MapOutput map) {
    return computeSums && (freshSums || map.needsSums());
  }

  int cellBytes() {
    return Math.min(CELL_BYTES, chunkBytes);
  }
}
