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

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDevice;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;

/**
 * The devices' contexts. The connection manager's library opens each device once for the whole
 * process and its identifiers live on those contexts, so queue pairs and all else must be made on
 * the same. Closed by its opener; the contexts close with the last that has them.
 */
final class Contexts implements AutoCloseable {
  private final Libraries libraries;
  private final long list;
  private boolean closed;

  private Contexts(Libraries libraries, long list) {
    this.libraries = libraries;
    this.list = list;
  }

  static Contexts open(Libraries libraries) throws VerbsException {
    try (NativeArena arena = new NativeArena()) {
      long list = libraries.cm().getDevices(arena.allocate(Integer.BYTES));
      if (list == 0) {
        throw Libraries.failure("rdma_get_devices", "");
      }
      return new Contexts(libraries, list);
    }
  }

  /** Those with reliable connections. */
  List<Long> all() {
    List<Long> contexts = new ArrayList<>();
    for (long at = list; Memory.getLong(at) != 0; at += Long.BYTES) {
      long context = Memory.getLong(at);
      if (TransportRules.isKnown(transportType(context))) {
        contexts.add(context);
      }
    }
    return contexts;
  }

  static String name(long context) {
    return Memory.string(device(context) + IbvDevice.NAME);
  }

  static int transportType(long context) {
    return Memory.getInt(device(context) + IbvDevice.TRANSPORT_TYPE);
  }

  private static long device(long context) {
    return Memory.getLong(context + IbvContext.DEVICE);
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      libraries.cm().freeDevices(list);
    }
  }
}
