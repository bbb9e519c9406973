// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import org.sparkrdma.memory.RegisteredChunk;

/** Buffer of a control message in registered memory. Owned by the agent or its borrower. */
final class ControlSlot {
  private final int index;
  private final RegisteredChunk chunk;
  private final ByteBuffer bytes;

  ControlSlot(int index, RegisteredChunk chunk) {
    this.index = index;
    this.chunk = chunk;
    this.bytes = chunk.slice(0, chunk.lengthBytes());
  }

  int index() {
    return index;
  }

  RegisteredChunk chunk() {
    return chunk;
  }

  /** The buffer, writable from index 0. */
  ByteBuffer bytes() {
    return bytes;
  }

  /** The first {@code lengthBytes} of the buffer, as received. */
  ByteBuffer message(int lengthBytes) {
    return chunk.slice(0, lengthBytes);
  }
}
