// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

/**
 * A block that waits for a thread of its disk.
 *
 * @param index in the request
 * @param from offset in the block of the first byte to locate
 * @param output its map output, held in the cache meanwhile; null when its index must be read
 */
record WaitingBlock(int index, long from, ServedOutput output) {
  /** Waits; {@link #endWait} must follow. */
  static WaitingBlock begin(int index, long from, ServedOutput output) {
    WaitingBlock block = new WaitingBlock(index, from, output);
    if (output != null) {
      output.beginUse();
    }
    return block;
  }

  void endWait() {
    if (output != null) {
      output.endUse();
    }
  }
}
