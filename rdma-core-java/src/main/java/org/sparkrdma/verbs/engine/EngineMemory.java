// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.sparkrdma.verbs.HostMemory;

/** Memory of a device; the regions over it are its users. Safe for any thread. */
public abstract class EngineMemory extends EngineObject implements HostMemory {
  private final long address;
  private final long lengthBytes;

  /** Whether its device is being closed. */
  private volatile boolean abandoned;

  protected EngineMemory(EngineDevice device, long address, long lengthBytes) {
    super(device, "memory");
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
    ByteBuffer slice = isClosed() ? null : sliceWhileOpen(offset, length);
    if (slice == null) {
      throw closedException();
    }
    return slice;
  }

  /** A little-endian buffer over a range that lies inside; null after {@link #free}. */
  protected abstract ByteBuffer sliceWhileOpen(long offset, int length);

  /** Closes it with its device. */
  final void closeWithDevice() {
    abandoned = true;
    close();
  }

  @Override
  protected final void destroy() {
    if (abandoned) {
      abandon();
    } else {
      free();
    }
  }

  /** Frees the memory; called once, when no region is left. */
  protected abstract void free();

  /** Frees memory of a closed device: slices that are still in use stay readable. */
  protected void abandon() {
    free();
  }
}
