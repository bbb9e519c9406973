// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDevice;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;

/**
 * The devices' contexts. librdmacm opens each device once per process and creates its identifiers
 * on those contexts, so queue pairs and all other objects must be created on the same contexts.
 * Closed by its opener; the contexts close with the last user.
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

  /** The devices with reliable connections. */
  List<Long> all() {
    List<Long> contexts = new ArrayList<>();
    for (long at = list; Native.getLong(at) != 0; at += Long.BYTES) {
      long context = Native.getLong(at);
      if (TransportRules.isKnown(transportType(context))) {
        contexts.add(context);
      }
    }
    return contexts;
  }

  static String name(long context) {
    return Native.string(device(context) + IbvDevice.NAME);
  }

  static int transportType(long context) {
    return Native.getInt(device(context) + IbvDevice.TRANSPORT_TYPE);
  }

  private static long device(long context) {
    return Native.getLong(context + IbvContext.DEVICE);
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      libraries.cm().freeDevices(list);
    }
  }
}
