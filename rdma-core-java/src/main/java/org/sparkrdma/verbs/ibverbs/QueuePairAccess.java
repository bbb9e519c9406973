// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpInitAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * What peers may do by a queue pair of the device, and its error state. The queue pair changes the
 * access with this object's lock, and takes it before it is destroyed; no thread that posts waits
 * for it. Any thread may break it, until it is destroyed.
 */
final class QueuePairAccess {
  private static final Logger LOG = LoggerFactory.getLogger(QueuePairAccess.class);

  /**
   * Time after which a peer repeats a READ that met a page fault: 0.64 ms, as min_rnr_timer of
   * ibv_modify_qp(3) encodes it. The connection manager leaves 0, which is 655 ms.
   */
  private static final int PAGE_FAULT_TIMER = 12;

  private final IbverbsDevice device;
  private final long qp;

  QueuePairAccess(IbverbsDevice device, long qp) {
    this.device = device;
    this.qp = qp;
  }

  /**
   * Makes the device flush its work; the queue pair may be in the error state already.
   *
   * @return false when the device refuses, and may still use the memory of the work, which stays
   *     until the queue pair is destroyed
   */
  boolean breakOnDevice(int number) {
    try (NativeArena one = new NativeArena()) {
      long attributes = one.allocate(IbvQpAttr.SIZE);
      Native.putInt(attributes + IbvQpAttr.QP_STATE, VerbsLibrary.QP_STATE_ERR);
      int rc = modify(attributes, VerbsLibrary.ATTR_STATE);
      if (rc != 0) {
        LOG.warn(
            "Device does not end a broken queue pair; its work stays until it is destroyed:"
                + " queuePair={} reason={}",
            number,
            Libraries.failure("ibv_modify_qp", rc, "state=ERR").getMessage());
      }
      return rc == 0;
    }
  }

  /** Gives peers this access, and no other. */
  void change(Set<AccessFlag> access) throws VerbsException {
    if (!device.info().can(Capability.QUEUE_PAIR_ACCESS)) {
      return;
    }
    try (NativeArena one = new NativeArena()) {
      long attributes = one.allocate(IbvQpAttr.SIZE);
      Native.putInt(attributes + IbvQpAttr.QP_ACCESS_FLAGS, RegionAccess.bits(access));
      int rc = -1;
      if (device.info().can(Capability.ON_DEMAND_PAGING)) {
        Native.putByte(attributes + IbvQpAttr.MIN_RNR_TIMER, PAGE_FAULT_TIMER);
        rc = modify(attributes, VerbsLibrary.ATTR_ACCESS_FLAGS | VerbsLibrary.ATTR_MIN_RNR_TIMER);
      }
      // Without the timer on a device that refuses it.
      if (rc != 0) {
        rc = modify(attributes, VerbsLibrary.ATTR_ACCESS_FLAGS);
      }
      if (rc != 0) {
        VerbsException failure = Libraries.failure("ibv_modify_qp", rc, "access=" + access);
        if ((rc == Libc.EINVAL || rc == Libc.EOPNOTSUPP) && isReadyOnDevice()) {
          device.onAccessRefused(failure);
        }
        throw failure;
      }
    }
    checkAccessRemoved(access);
  }

  /**
   * Once for each device, because a driver that is not in {@link
   * org.sparkrdma.verbs.engine.KernelDriver} may ignore the call, too: a device that reports access
   * that was not given counts as one that refuses.
   */
  private void checkAccessRemoved(Set<AccessFlag> access) throws VerbsException {
    if (device.isAccessRefused()) {
      throw accessKept("access=" + access);
    }
    if (!device.tryUseAccessCheck()) {
      return;
    }
    try (NativeArena one = new NativeArena()) {
      long attributes = one.allocate(IbvQpAttr.SIZE);
      int rc = query(attributes, VerbsLibrary.ATTR_ACCESS_FLAGS, one);
      if (rc != 0) {
        if (!Libc.isUnsupported(rc)) {
          // A failure of the moment; the next change is checked.
          device.repeatAccessCheck();
        }
        return;
      }
      int kept =
          Native.getInt(attributes + IbvQpAttr.QP_ACCESS_FLAGS)
              & RegionAccess.remoteBitsWithout(access);
      if (kept != 0) {
        VerbsException failure = accessKept("access=" + access + " keptBits=" + kept);
        device.onAccessRefused(failure);
        throw failure;
      }
    }
  }

  private static VerbsException accessKept(String details) {
    return new VerbsException("ibv_modify_qp", "ibv_modify_qp has no effect: " + details);
  }

  private int query(long attributes, int mask, NativeArena arena) {
    long initial = arena.allocate(IbvQpInitAttr.SIZE);
    return device.libraries().verbs().queryQp(qp, attributes, mask, initial);
  }

  /** Otherwise the connection has ended, after which any driver refuses to change the access. */
  private boolean isReadyOnDevice() {
    try (NativeArena one = new NativeArena()) {
      long attributes = one.allocate(IbvQpAttr.SIZE);
      return query(attributes, VerbsLibrary.ATTR_STATE, one) == 0
          && Native.getInt(attributes + IbvQpAttr.QP_STATE) == VerbsLibrary.QP_STATE_RTS;
    }
  }

  private int modify(long attributes, int mask) {
    return device.libraries().verbs().modifyQp(qp, attributes, mask);
  }
}
