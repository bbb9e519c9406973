// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.device;

/**
 * The completion vector that an executor uses. Executors of a host are spread over the vectors of
 * its device, so that not all their interrupts go to one processor.
 */
public final class CompletionVector {
  /** Multiplicative hashing by the golden ratio: near numbers get different vectors. */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private CompletionVector() {}

  /**
   * The vector. Executors of a host differ in their process ids, those of containers in their
   * numbers, which may have a common step.
   *
   * @param executor number of the executor in its application
   * @param pid of its process
   * @param vectors that the device has, at least 1
   */
  public static int of(int executor, long pid, int vectors) {
    long mixed = (31 * pid + executor) * SPREAD;
    return (int) Long.remainderUnsigned(mixed >>> Integer.SIZE, vectors);
  }
}
