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
package org.sparkrdma.shuffle.output;

import org.sparkrdma.shuffle.wire.Located;

/**
 * Iterates over the checksums of a block while its pieces are written: a piece carries the
 * checksums of the ranges that end in it. Used by one thread at a time.
 */
public interface PieceSums {
  /**
   * Maximum end of a piece whose checksums fit into the answer.
   *
   * @param at start of the piece in the file
   * @param end end of the block in the file
   * @return {@code at} when not even one checksum fits
   */
  long endOfFittingSums(long at, long end, int room);

  /** Number of checksums of the pieces up to this offset of the file. */
  int countUntil(long end);

  /** Writes the next checksums and advances. */
  void write(Located.Encoder answer, long blockStart, int sums);
}
