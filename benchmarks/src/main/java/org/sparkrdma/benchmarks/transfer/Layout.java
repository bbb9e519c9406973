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
