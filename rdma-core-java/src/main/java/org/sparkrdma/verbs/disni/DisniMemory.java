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
package org.sparkrdma.verbs.disni;

import com.ibm.disni.util.MemoryUtils;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.VerbsException;

/**
 * A direct buffer. It is unmapped when its last slice is unreachable, so a slice that is used after
 * close sees stale bytes. Safe for any thread.
 */
final class DisniMemory implements HostMemory {
  private final DisniDevice device;
  private final long address;
  private final long lengthBytes;
  private ByteBuffer buffer;
  private int regions;

  private DisniMemory(DisniDevice device, ByteBuffer buffer) {
    this.device = device;
    this.buffer = buffer;
    lengthBytes = buffer.capacity();
    address = MemoryUtils.getAddress(buffer);
  }

  static DisniMemory allocate(DisniDevice device, long lengthBytes) throws VerbsException {
    if (lengthBytes > SystemDevices.MAX_REGION_BYTES) {
      throw new VerbsException(
          "mmap",
          "memory of DiSNI has one buffer: lengthBytes="
              + lengthBytes
              + (" limit=" + SystemDevices.MAX_REGION_BYTES));
    }
    try {
      return new DisniMemory(device, ByteBuffer.allocateDirect((int) lengthBytes));
    } catch (OutOfMemoryError e) {
      throw new VerbsException(
          "mmap",
          "no direct memory left, the JVM's option -XX:MaxDirectMemorySize sets how much there is:"
              + " lengthBytes="
              + lengthBytes,
          e);
    }
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
  public synchronized ByteBuffer slice(long offset, int length) {
    Objects.checkFromIndexSize(offset, length, lengthBytes);
    if (buffer == null) {
      throw new IllegalStateException("memory is closed");
    }
    return buffer.slice((int) offset, length).order(ByteOrder.LITTLE_ENDIAN);
  }

  DisniDevice device() {
    return device;
  }

  synchronized void retain() {
    if (buffer == null) {
      throw new IllegalStateException("memory is closed");
    }
    regions++;
  }

  synchronized void release() {
    regions--;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (buffer == null) {
        return;
      }
      if (regions > 0) {
        throw new IllegalStateException("memory has regions: regions=" + regions);
      }
      buffer = null;
    }
    device.forget(this);
  }
}
