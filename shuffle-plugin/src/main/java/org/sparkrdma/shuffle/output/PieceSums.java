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
 * Walks a block from front to back while its pieces are written, and says which checksums go with
 * each: those of the stretches that end in it. On the server's thread.
 */
public interface PieceSums {
  /**
   * How far a piece may go so that all its sums fit into the room.
   *
   * @param at where the piece begins in the file
   * @param end where the block ends in the file
   * @return {@code at} when not even the first sum fits
   */
  long endOfFittingSums(long at, long end, int room);

  /** How many sums belong to the pieces up to this place in the file. */
  int countUntil(long end);

  /** Writes the next sums, and moves on behind them. */
  void write(Located.Encoder answer, long blockStart, int sums);
}
