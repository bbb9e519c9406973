// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.util.MemoryUtils;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.sparkrdma.verbs.engine.EngineMemory;

/**
 * A direct buffer. The JVM unmaps it when its last slice is unreachable, so a slice that is used
 * after close shows stale bytes. Safe for any thread.
 */
final class DisniMemory extends EngineMemory {
  private volatile ByteBuffer buffer;

  DisniMemory(DisniDevice device, ByteBuffer buffer) {
    super(device, MemoryUtils.getAddress(buffer), buffer.capacity());
    this.buffer = buffer;
  }

  @Override
  protected ByteBuffer sliceWhileOpen(long offset, int length) {
    ByteBuffer open = buffer;
    return open == null ? null : open.slice((int) offset, length).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The JVM unmaps it when the last slice is unreachable. */
  @Override
  protected void free() {
    buffer = null;
  }
}
