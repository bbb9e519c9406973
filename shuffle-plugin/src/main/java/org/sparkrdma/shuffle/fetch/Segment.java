// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.nio.ByteBuffer;
import org.sparkrdma.memory.RegisteredChunk;

/**
 * Contiguous bytes of a block in one chunk; holds one reference to the chunk.
 *
 * @param offset in the chunk
 * @param lengthBytes more than 0
 */
public record Segment(RegisteredChunk chunk, int offset, int lengthBytes) {
  /** A new view of its bytes. */
  public ByteBuffer bytes() {
    return chunk.slice(offset, lengthBytes);
  }
}
