package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import org.sparkrdma.memory.RegisteredChunk;

/** A control message's buffer in registered memory. Owned by the agent, or by who was lent it. */
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

  /** Its bytes, to be written from index 0. */
  ByteBuffer bytes() {
    return bytes;
  }

  /** The first {@code lengthBytes} of it as received. */
  ByteBuffer message(int lengthBytes) {
    return chunk.slice(0, lengthBytes);
  }
}
