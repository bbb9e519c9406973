// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.HashMap;
import java.util.Map;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDevice;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDeviceAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.SetUpCalls;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * Opens and closes each device before librdmacm opens it. A device that fails in librdmacm is not
 * used again by this process while the kernel keeps it (is_device_dead in librdmacm's cma.c), so a
 * device that fails for a moment, as during its reset, must not be shown to it. Safe for any
 * thread.
 */
final class DeviceProbe {
  /** Maximum number of checks in turn that fail for a device although others can be used. */
  static final int MAX_WAITS = 5;

  /** The kernel's control group of RDMA answers EAGAIN, see its rdma.rst. */
  private static final String NO_HANDLE =
      ": the control group may allow no more handles of the device (hca_handle in its rdma.max)";

  /** Failures in turn of each device that was well before. */
  private final Map<String, Integer> failures = new HashMap<>();

  /**
   * Checks all devices.
   *
   * @throws VerbsException when no device answers and one fails for a moment, or one does so that
   *     was well before
   */
  synchronized void check(VerbsLibrary verbs) throws VerbsException {
    try (NativeArena arena = new NativeArena()) {
      long list = verbs.getDeviceList(arena.allocate(Integer.BYTES));
      if (list == 0) {
        // librdmacm reports the reason.
        return;
      }
      try {
        check(verbs, list, arena);
      } finally {
        verbs.freeDeviceList(list);
      }
    }
  }

  private void check(VerbsLibrary verbs, long list, NativeArena arena) throws VerbsException {
    boolean some = false;
    VerbsException momentary = null;
    boolean wait = false;
    for (long at = list; Native.getLong(at) != 0; at += Long.BYTES) {
      long device = Native.getLong(at);
      String name = Native.string(device + IbvDevice.NAME);
      VerbsException failure = failure(verbs, device, name, arena);
      if (failure == null) {
        some = true;
        failures.put(name, 0);
      } else if (failure.isTransient()) {
        momentary = momentary == null ? failure : momentary;
        Integer count = failures.computeIfPresent(name, (known, before) -> before + 1);
        wait |= count != null && count <= MAX_WAITS;
      }
    }
    if (momentary != null && (wait || !some)) {
      throw momentary;
    }
  }

  private static VerbsException failure(
      VerbsLibrary verbs, long device, String name, NativeArena arena) {
    long context = verbs.openDevice(device);
    if (context == 0) {
      int errno = SetUpCalls.errno();
      return Libraries.failure(
          "ibv_open_device", errno, "device=" + name + (errno == Libc.EAGAIN ? NO_HANDLE : ""));
    }
    try {
      int rc = verbs.queryDevice(context, arena.allocate(IbvDeviceAttr.SIZE));
      return rc == 0 ? null : Libraries.failure("ibv_query_device", rc, "device=" + name);
    } finally {
      verbs.closeDevice(context);
    }
  }
}
