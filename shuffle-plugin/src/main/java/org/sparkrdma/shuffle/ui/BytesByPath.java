// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

/**
 * Bytes of an application, or of an executor, by the path on which they came.
 *
 * @param read by READ
 * @param copied of these, those that a peer served from its copy pool
 * @param tcp by TCP
 * @param local from the executor's own disks
 */
record BytesByPath(long read, long copied, long tcp, long local) {
  /** All 0. */
  static final BytesByPath NONE = new BytesByPath(0, 0, 0, 0);

  BytesByPath plus(BytesByPath other) {
    return new BytesByPath(
        read + other.read, copied + other.copied, tcp + other.tcp, local + other.local);
  }
}
