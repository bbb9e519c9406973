// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvDeviceAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * Drivers that deviate from their transport's specification, and how. A driver is recognised by the
 * vendor id that it reports: administrators choose the names of devices.
 *
 * <p>{@link TransportRules} holds what all devices of a transport have in common.
 */
enum Driver {
  /** Soft iWARP of the kernel; SIW_VENDOR_ID in drivers/infiniband/sw/siw/siw.h. */
  SIW(0x626d74, true, true, true),
  /** Soft RoCE of the kernel; RXE_VENDOR_ID in drivers/infiniband/sw/rxe/rxe_param.h. */
  RXE(0xffffff, false, false, false),
  /** All others. */
  OTHER(0, false, false, false);

  private final int vendorId;
  private final boolean completesSendsBeforeReads;
  private final boolean requiresElement;
  private final boolean failsSilently;

  Driver(
      int vendorId,
      boolean completesSendsBeforeReads,
      boolean requiresElement,
      boolean failsSilently) {
    this.vendorId = vendorId;
    this.completesSendsBeforeReads = completesSendsBeforeReads;
    this.requiresElement = requiresElement;
    this.failsSilently = failsSilently;
  }

  /**
   * The driver of an open device.
   *
   * @throws VerbsException when the device cannot be queried
   */
  static Driver of(VerbsLibrary verbs, long context) throws VerbsException {
    try (NativeArena arena = new NativeArena()) {
      long attributes = arena.allocate(IbvDeviceAttr.SIZE);
      int rc = verbs.queryDevice(context, attributes);
      if (rc != 0) {
        throw Libraries.failure("ibv_query_device", rc, "device=" + Contexts.name(context));
      }
      return of(Memory.getInt(attributes + IbvDeviceAttr.VENDOR_ID));
    }
  }

  static Driver of(int vendorId) {
    for (Driver driver : values()) {
      if (driver.vendorId == vendorId) {
        return driver;
      }
    }
    return OTHER;
  }

  /** Flags of every send and write; a fence keeps them behind READs that were posted earlier. */
  int sendFlags() {
    return completesSendsBeforeReads ? VerbsLibrary.SEND_FENCE : 0;
  }

  /** Whether work without memory needs an element of length 0. */
  boolean requiresElement() {
    return requiresElement;
  }

  /** Whether unsignalled work may fail without a completion. */
  boolean mayFailSilently() {
    return failsSilently;
  }
}
