// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.figures;

/**
 * Bytes of an application, or of an executor, by the path on which they came.
 *
 * @param read by READ
 * @param copied of these, those that a peer has copied
 * @param tcp by TCP
 * @param local from the executor's own disks
 */
public record BytesByPath(long read, long copied, long tcp, long local) {
  /** All 0. */
  public static final BytesByPath NONE = new BytesByPath(0, 0, 0, 0);

  /** The sum. */
  public BytesByPath plus(BytesByPath other) {
    return new BytesByPath(
        read + other.read, copied + other.copied, tcp + other.tcp, local + other.local);
  }
}
