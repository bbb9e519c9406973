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

import java.nio.ByteBuffer;
import java.util.Objects;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.AddressRange;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;

/**
 * Anonymous memory, in whole pages. A slice that is used after close throws or shows zeros, see
 * {@link AddressRange}. Safe for any thread.
 */
final class IbverbsMemory implements HostMemory {
  private static final long FAILED = -1;

  private final IbverbsDevice device;
  private final long address;
  private final long lengthBytes;
  private final AddressRange range;
  private int regions;
  private boolean closed;

  private IbverbsMemory(IbverbsDevice device, long address, long lengthBytes) {
    this.device = device;
    this.address = address;
    this.lengthBytes = lengthBytes;
    range = AddressRange.of(address, lengthBytes);
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
    return address;
  }

  @Override
  public long lengthBytes() {
    return lengthBytes;
  }

  @Override
  public ByteBuffer slice(long offset, int sliceBytes) {
    Objects.checkFromIndexSize(offset, sliceBytes, lengthBytes);
    return range.slice(offset, sliceBytes);
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

  @Override
  public synchronized void close() {
    if (markClosed()) {
      range.close();
    }
  }

  /** Closes it with its device: slices that are still in use stay readable. */
  synchronized void abandon() {
    if (markClosed()) {
      range.abandon();
    }
  }

  private boolean markClosed() {
    if (closed) {
      return false;
    }
    if (regions > 0) {
      throw new IllegalStateException("memory has regions: regions=" + regions);
    }
    closed = true;
    device.forget(this);
    return true;
  }
}
