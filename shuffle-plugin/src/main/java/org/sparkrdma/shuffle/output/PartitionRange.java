// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import java.util.function.IntPredicate;

/**
 * Which part of an index is needed.
 *
 * @param first first reduce partition
 * @param end one past the last
 * @param readsWhole whether an index of so many partitions is read as a whole; asked once
 */
public record PartitionRange(int first, int end, IntPredicate readsWhole) {
  /** Each index as a whole. */
  public static final PartitionRange WHOLE = new PartitionRange(0, 1, count -> true);
}
