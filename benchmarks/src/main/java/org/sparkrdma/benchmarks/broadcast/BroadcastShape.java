// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import org.sparkrdma.benchmarks.jobs.Shape;
import org.sparkrdma.launch.DataSize;

/**
 * Size of a value and number of executors that get it, such as {@code 100mx4}.
 *
 * @param bytes of the value
 * @param executors of one core each
 */
record BroadcastShape(int bytes, int executors) {
  static final int MIN_EXECUTORS = 2;
  static final int MAX_EXECUTORS = 16;

  /** A value is one array of the heap, which every side has several times. */
  private static final DataSize MAX_SIZE = new DataSize(1L << 30);

  private static final int MIN_HEAP_MIB = 1_024;

  /**
   * @throws IllegalArgumentException in one sentence, if the text is no such shape
   */
  static BroadcastShape parse(String text) {
    Shape shape = Shape.parse(text, 2);
    return new BroadcastShape(
        shape.bytes(0, MAX_SIZE), shape.count(1, MIN_EXECUTORS, MAX_EXECUTORS));
  }

  /**
   * Heap of each executor, and of the driver, in MiB: half of it is for stored blocks, which are
   * the pieces and the value. A join has the table some more times.
   */
  int heapMib(boolean join) {
    return Math.max(MIN_HEAP_MIB, MIN_HEAP_MIB / 2 + (join ? 12 : 5) * (bytes >> 20));
  }

  /** The text for {@link #parse}. */
  @Override
  public String toString() {
    return new DataSize(bytes).toOption() + "x" + executors;
  }
}
