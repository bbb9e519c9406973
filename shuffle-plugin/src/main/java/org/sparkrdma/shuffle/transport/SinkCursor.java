// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;

/** Allocates sink space from consecutive chunks of the receive pool. Owned by the agent. */
final class SinkCursor implements AutoCloseable {
  private final RegisteredPool pool;
  private RegisteredChunk chunk;
  private int position;

  SinkCursor(RegisteredPool pool) {
    this.pool = pool;
  }

  /** Free bytes in the current chunk, or in a new one if it is full; 0 when the pool is empty. */
  int room() {
    if (chunk == null || position == chunk.lengthBytes()) {
      close();
      chunk = pool.tryTake().orElse(null);
      position = 0;
    }
    return chunk == null ? 0 : chunk.lengthBytes() - position;
  }

  /** The current chunk; requires that {@link #room()} returned more than 0. */
  RegisteredChunk chunk() {
    return chunk;
  }

  int position() {
    return position;
  }

  void advance(int lengthBytes) {
    position += lengthBytes;
  }

  /** Releases the current chunk; its users hold their own references. */
  @Override
  public void close() {
    if (chunk != null) {
      chunk.release();
      chunk = null;
    }
  }
}
