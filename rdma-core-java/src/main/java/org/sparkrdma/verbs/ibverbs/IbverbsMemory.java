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
