/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
