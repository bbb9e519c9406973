// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.locks.LockSupport;

/** A mapping as one segment, unmapped at close. A buffer that is used after that throws. */
final class SegmentAddressRange implements AddressRange {
  private static final long PATIENCE_NS = 10_000_000_000L;
  private static final long PAUSE_NS = 100_000;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment segment;

  SegmentAddressRange(long address, long lengthBytes) {
    segment =
        MemorySegment.ofAddress(address)
            .reinterpret(lengthBytes, arena, gone -> Libc.unmap(address, lengthBytes));
  }

  @Override
  public ByteBuffer slice(long offset, int lengthBytes) {
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("memory is closed");
    }
    return segment.asSlice(offset, lengthBytes).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Waits for system calls that are at work on a slice just now; they are short. */
  @Override
  public void close() {
    long deadline = System.nanoTime() + PATIENCE_NS;
    while (segment.scope().isAlive()) {
      try {
        arena.close();
      } catch (IllegalStateException e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  /** Leaves the mapping to the end of the process: only its arena could end it, under buffers. */
  @Override
  public void abandon() {}
}
