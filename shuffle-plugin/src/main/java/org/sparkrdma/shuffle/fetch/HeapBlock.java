// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

/** A block that was copied to the heap, because registered memory was short. */
final class HeapBlock extends FetchedBlock {
  private final byte[] bytes;
  private final ReceiveMemory copies;

  /**
   * @param bytes all of the block
   * @param copies is informed of the last release
   */
  HeapBlock(byte[] bytes, ReceiveMemory copies) {
    this.bytes = bytes;
    this.copies = copies;
  }

  @Override
  int count() {
    return 1;
  }

  @Override
  int lengthBytes(int i) {
    return bytes.length;
  }

  @Override
  byte get(int i, int position) {
    return bytes[position];
  }

  @Override
  void get(int i, int position, byte[] target, int targetOffset, int count) {
    System.arraycopy(bytes, position, target, targetOffset, count);
  }

  @Override
  void free() {
    copies.copyReleased(bytes.length);
  }
}
