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
package org.sparkrdma.verbs.ibverbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;

/**
 * Anonymous memory, in whole pages. A slice that is used after close throws. Safe for any thread.
 */
final class IbverbsMemory implements HostMemory {
  private static final long PATIENCE_NS = 10_000_000_000L;
  private static final long PAUSE_NS = 100_000;
  private static final long FAILED = -1;

  private final IbverbsDevice device;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment segment;
  private int regions;
  private boolean closed;

  private IbverbsMemory(IbverbsDevice device, long address, long lengthBytes) {
    this.device = device;
    segment =
        MemorySegment.ofAddress(address)
            .reinterpret(lengthBytes, arena, gone -> Libc.unmap(address, lengthBytes));
  }

  static IbverbsMemory allocate(IbverbsDevice device, long lengthBytes) throws VerbsException {
    long address = Libc.map(lengthBytes);
    if (address == FAILED) {
      throw Libraries.failure("mmap", "lengthBytes=" + lengthBytes);
    }
    return new IbverbsMemory(device, address, lengthBytes);
  }

  @Override
  public long address() {
    return segment.address();
  }

  @Override
  public long lengthBytes() {
    return segment.byteSize();
  }

  @Override
  public ByteBuffer slice(long offset, int lengthBytes) {
    Objects.checkFromIndexSize(offset, lengthBytes, segment.byteSize());
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("memory is closed");
    }
    return segment.asSlice(offset, lengthBytes).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  IbverbsDevice device() {
    return device;
  }

  synchronized void retain() {
    if (closed) {
      throw new IllegalStateException("memory is closed");
    }
    regions++;
  }

  synchronized void release() {
    regions--;
  }

  /** Waits for system calls that are at work on a slice just now; they are short. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    if (regions > 0) {
      throw new IllegalStateException("memory has regions: regions=" + regions);
    }
    closed = true;
    device.forget(this);
    long deadline = System.nanoTime() + PATIENCE_NS;
    while (true) {
      try {
        arena.close();
        return;
      } catch (IllegalStateException e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }
}
