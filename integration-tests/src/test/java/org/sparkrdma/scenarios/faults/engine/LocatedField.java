// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.nio.ByteBuffer;
import org.sparkrdma.shuffle.wire.Located;

/** A field of the first extent of a {@link Located}. */
enum LocatedField {
  ADDRESS(8),
  KEY(16),
  LENGTH(40),
  OFFSET(24),
  BLOCK_LENGTH(32),
  FIRST_SUM(Located.EXTENT_BYTES + 8);

  private final int at;

  LocatedField(int inExtent) {
    this.at = Located.HEADER_BYTES + inExtent;
  }

  /**
   * Flips a bit of a field.
   *
   * @param fieldAndBit name of the field and number of the bit, with a colon between them
   */
  static void flip(ByteBuffer message, String fieldAndBit) {
    String[] parts = fieldAndBit.split(":", -1);
    int bit = Integer.parseInt(parts[1]);
    // Little-endian.
    int index = valueOf(parts[0]).at + bit / Byte.SIZE;
    message.put(index, (byte) (message.get(index) ^ (1 << bit % Byte.SIZE)));
  }
}
