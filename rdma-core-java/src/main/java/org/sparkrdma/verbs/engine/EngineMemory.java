// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.sparkrdma.verbs.HostMemory;

/**
 * Memory of a device, counting the regions over it: it cannot be closed while there is one. Safe
 * for any thread.
 */
public abstract class EngineMemory implements HostMemory {
  private final EngineDevice device;
  private final long address;
  private final long lengthBytes;
  private int regions;
  private volatile boolean closed;

  protected EngineMemory(EngineDevice device, long address, long lengthBytes) {
    this.device = device;
    this.address = address;
    this.lengthBytes = lengthBytes;
  }

  @Override
  public final long address() {
    return address;
  }

  @Override
  public final long lengthBytes() {
    return lengthBytes;
  }

  @Override
  public final ByteBuffer slice(long offset, int length) {
    Objects.checkFromIndexSize(offset, length, lengthBytes);
    ByteBuffer slice = closed ? null : sliceWhileOpen(offset, length);
    if (slice == null) {
      throw new IllegalStateException("memory is closed");
    }
    return slice;
  }

  /** A little-endian buffer over a range that lies inside; null after {@link #free}. */
  protected abstract ByteBuffer sliceWhileOpen(long offset, int length);

  final boolean isOf(EngineDevice other) {
    return device == other;
  }

  /** A region over it is being registered. */
  final synchronized void retain() {
    if (closed) {
      throw new IllegalStateException("memory is closed");
    }
    regions++;
  }

  /** That region was deregistered, or not registered after all. */
  final synchronized void release() {
    regions--;
  }

  @Override
  public final void close() {
    if (markClosed()) {
      free();
    }
  }

  /** Closes it with its device. */
  final void closeWithDevice() {
    if (markClosed()) {
      abandon();
    }
  }

  private boolean markClosed() {
    synchronized (this) {
      if (closed) {
        return false;
      }
      if (regions > 0) {
        throw new IllegalStateException("memory has regions: regions=" + regions);
      }
      closed = true;
    }
    device.onClosed(this);
    return true;
  }

  /** Frees the memory; called once, when no region is left. */
  protected abstract void free();

  /** Frees memory of a closed device: slices that are still in use stay readable. */
  protected void abandon() {
    free();
  }
}
