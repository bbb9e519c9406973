// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

/**
 * Which part of an index is needed.
 *
 * @param first first reduce partition
 * @param end one past the last
 * @param maxWhole an index of at most so many partitions is read as a whole
 */
public record PartitionRange(int first, int end, int maxWhole) {
  /** Each index as a whole. */
  public static final PartitionRange WHOLE = new PartitionRange(0, 1, Integer.MAX_VALUE);
}
