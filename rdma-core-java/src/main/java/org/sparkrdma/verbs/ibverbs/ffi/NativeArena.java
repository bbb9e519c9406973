// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.leak.LeakRecord;

/**
 * Native memory that is allocated piece by piece and freed together. Confined to its owner's thread
 * or lock. The owner closes it when neither the device nor another thread uses the memory any more,
 * because an address does not show that its memory was freed.
 *
 * <p>In tests, where {@link LeakRecord}s are kept, an arena that is not closed fails the test. Its
 * memory is overwritten before it is freed, to expose a late use.
 */
public final class NativeArena implements AutoCloseable {
  /** Value that overwrites freed memory in tests; as an address it is never mapped. */
  static final byte POISON = (byte) 0xdb;

  private final LeakRecord leakRecord = LeakRecord.acquire("native memory");
  private final List<Block> blocks = new ArrayList<>();
  private boolean closed;

  private record Block(long address, long lengthBytes) {}

  /** Empty at first. */
  public NativeArena() {}

  /**
   * Allocates zeroed memory, aligned for any C type.
   *
   * @return its address
   */
  public long allocate(long lengthBytes) {
    if (closed) {
      throw new IllegalStateException("arena is closed");
    }
    long address = Libc.calloc(Math.max(1, lengthBytes));
    if (address == 0) {
      throw new OutOfMemoryError("no native memory: lengthBytes=" + lengthBytes);
    }
    blocks.add(new Block(address, lengthBytes));
    return address;
  }

  /**
   * Allocates a copy of the bytes, with zeros behind it.
   *
   * @return its address
   */
  public long allocate(byte[] bytes, int zeros) {
    long address = allocate((long) bytes.length + zeros);
    for (int i = 0; i < bytes.length; i++) {
      Native.putByte(address + i, bytes[i]);
    }
    return address;
  }

  /** Frees everything. A second close does nothing. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (Block block : blocks) {
      if (LeakRecord.isEnabled()) {
        Native.fill(block.address, block.lengthBytes, POISON);
      }
      Libc.free(block.address);
    }
    leakRecord.release();
  }
}
