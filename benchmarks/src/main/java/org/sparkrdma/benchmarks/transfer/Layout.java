// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.Serializable;
import org.apache.spark.storage.ShuffleBlockId;

/**
 * The map outputs of one round: {@code maps} files of {@code reducers} blocks of equal length.
 *
 * @param blockBytes a multiple of 1 KiB
 */
record Layout(int blockBytes, int maps, int reducers) implements Serializable {
  /** Map outputs that hold at least {@code totalBytes} together. */
  static Layout of(long totalBytes, int maps, long blockBytes) {
    long perReducer = maps * blockBytes;
    return new Layout(
        Math.toIntExact(blockBytes),
        maps,
        Math.toIntExact((totalBytes + perReducer - 1) / perReducer));
  }

  /** Number of blocks. */
  int blocks() {
    return Math.multiplyExact(maps, reducers);
  }

  long totalBytes() {
    return (long) blocks() * blockBytes;
  }

  /** Spark's name of a block. */
  static String blockId(int shuffleId, int map, int reducer) {
    return new ShuffleBlockId(shuffleId, map, reducer).name();
  }
}
