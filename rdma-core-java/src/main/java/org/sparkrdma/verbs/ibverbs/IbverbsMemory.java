// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.nio.ByteBuffer;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.ibverbs.ffi.AddressRange;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;

/**
 * Anonymous memory, in whole pages. A slice that is used after close throws or shows zeros, see
 * {@link AddressRange}. Safe for any thread.
 */
final class IbverbsMemory extends EngineMemory {
  private static final long FAILED = -1;

  private final AddressRange range;

  private IbverbsMemory(IbverbsDevice device, long address, long lengthBytes) {
    super(device, address, lengthBytes);
    range = new AddressRange(address, lengthBytes);
  }

  static IbverbsMemory allocate(IbverbsDevice device, long lengthBytes) throws VerbsException {
    long address = Libc.map(lengthBytes);
    if (address == FAILED) {
      throw Libraries.failure("mmap", "lengthBytes=" + lengthBytes);
    }
    return new IbverbsMemory(device, address, lengthBytes);
  }

  @Override
  protected ByteBuffer sliceWhileOpen(long offset, int length) {
    return range.slice(offset, length);
  }

  @Override
  protected void free() {
    range.close();
  }

  @Override
  protected void abandon() {
    range.abandon();
  }
}
