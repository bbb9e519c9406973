// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

/**
 * Bytes of an application, or of an executor, by the path on which they came.
 *
 * @param read by READ
 * @param copied of these, those that a peer served from its copy pool
 * @param tcp by TCP
 * @param local from the executor's own disks
 */
public record BytesByPath(long read, long copied, long tcp, long local) {
  /** All 0. */
  public static final BytesByPath NONE = new BytesByPath(0, 0, 0, 0);

  /** Sum. */
  public BytesByPath plus(BytesByPath other) {
    return new BytesByPath(
        read + other.read, copied + other.copied, tcp + other.tcp, local + other.local);
  }

  /** Difference. */
  public BytesByPath minus(BytesByPath other) {
    return new BytesByPath(
        read - other.read, copied - other.copied, tcp - other.tcp, local - other.local);
  }

  /** The higher value of each path. */
  public BytesByPath atLeast(BytesByPath other) {
    return new BytesByPath(
        Math.max(read, other.read),
        Math.max(copied, other.copied),
        Math.max(tcp, other.tcp),
        Math.max(local, other.local));
  }

  /** The largest of the four. */
  public long highest() {
    return Math.max(Math.max(read, copied), Math.max(tcp, local));
  }
}
