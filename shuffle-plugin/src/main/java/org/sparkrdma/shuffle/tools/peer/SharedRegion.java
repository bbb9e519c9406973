// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.nio.ByteBuffer;
import org.sparkrdma.verbs.VerbsException;

/**
 * The memory that a listener lets peers read, as its private data names it: address, then key. Each
 * byte of it depends on its offset only, so that the reader can verify it.
 *
 * @param address of its first byte
 * @param key grants access; never logged
 */
record SharedRegion(long address, int key) {
  static final int BYTES = 1 << 20;
  static final int PRIVATE_BYTES = Long.BYTES + Integer.BYTES;
  private static final int FACTOR = 31;

  byte[] privateData() {
    return ByteBuffer.allocate(PRIVATE_BYTES).putLong(address).putInt(key).array();
  }

  /**
   * Private data may be padded with zeros.
   *
   * @throws VerbsException when it is too short, as from another program
   */
  static SharedRegion of(byte[] privateData) throws VerbsException {
    if (privateData.length < PRIVATE_BYTES) {
      throw new VerbsException("connect", "another program listens there");
    }
    ByteBuffer data = ByteBuffer.wrap(privateData);
    return new SharedRegion(data.getLong(), data.getInt());
  }

  /** Offset of the first byte that is not the region's; -1 when all are right. */
  static int firstWrong(ByteBuffer bytes) {
    for (int i = 0; i < bytes.limit(); i++) {
      if (bytes.get(i) != byteAt(i)) {
        return i;
      }
    }
    return -1;
  }

  static byte byteAt(int offset) {
    return (byte) (offset * FACTOR + (offset >> 12) + 1);
  }

  @Override
  public String toString() {
    return "SharedRegion";
  }
}
