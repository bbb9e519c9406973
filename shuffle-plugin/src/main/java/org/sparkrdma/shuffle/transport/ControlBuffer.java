// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.verbs.MemoryRegion;

/** Buffer of a control message in registered memory. Owned by the agent or its borrower. */
final class ControlBuffer {
  private final RegisteredChunk chunk;
  private final ByteBuffer bytes;

  ControlBuffer(RegisteredChunk chunk) {
    this.chunk = chunk;
    this.bytes = chunk.slice(0, chunk.lengthBytes());
  }

  MemoryRegion region() {
    return chunk.region();
  }

  long regionOffset() {
    return chunk.regionOffset();
  }

  int lengthBytes() {
    return chunk.lengthBytes();
  }

  /** The buffer, writable from index 0. */
  ByteBuffer bytes() {
    return bytes;
  }

  /** The first {@code lengthBytes} of the buffer, as received. */
  ByteBuffer message(int lengthBytes) {
    return chunk.slice(0, lengthBytes);
  }

  /** Returns its memory to the pool; only {@link ControlBuffers} calls it, once. */
  void release() {
    chunk.release();
  }
}
