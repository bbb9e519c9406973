// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.engine.EngineQueuePair;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQp;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpInitAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * A queue pair of the device and its work, see {@link EngineQueuePair}.
 *
 * <p>Its owner posts receives, polls and closes it; any thread posts sends, one at a time. Another
 * thread may break it at any time, and may close it once the owner no longer uses it: close frees
 * the memory that posting uses.
 */
final class IbverbsQueuePair extends EngineQueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(IbverbsQueuePair.class);

  /**
   * Time after which a peer repeats a READ that met a page fault: 0.64 ms, as min_rnr_timer of
   * ibv_modify_qp(3) encodes it. The connection manager leaves 0, which is 655 ms.
   */
  private static final int PAGE_FAULT_TIMER = 12;

  private final IbverbsDevice device;
  private final long qp;
  private final long postSendFunction;
  private final long postReceiveFunction;
  private final NativeArena arena = new NativeArena();
  private final WorkArray sendArray;
  private final WorkArray receiveArray;
  private Set<AccessFlag> remoteAccess;

  /** Takes over a queue pair of the device that was made on the connection's identifier. */
  IbverbsQueuePair(
      IbverbsDevice device,
      IbverbsProtectionDomain domain,
      IbverbsConnection connection,
      long qp,
      QueuePairSettings settings) {
    super(domain, connection, Native.getInt(qp + IbvQp.QP_NUM), settings);
    this.device = device;
    this.qp = qp;
    remoteAccess = settings.remoteAccess();
    postSendFunction = Native.getLong(device.context() + IbvContext.OPS_POST_SEND);
    postReceiveFunction = Native.getLong(device.context() + IbvContext.OPS_POST_RECV);
    int maxSge = settings.maxSge();
    int batch = Math.min(BATCH, settings.sendDepth());
    sendArray = WorkArray.ofSends(arena, batch, maxSge, device.driver());
    receiveArray = WorkArray.ofReceives(arena, 1, maxSge, device.driver());
    device.asyncEvents().listen(qp, this::fail);
  }

  /** A struct ibv_qp_init_attr for these settings, see ibv_create_qp(3), in the arena's memory. */
  static long writeAttributes(QueuePairSettings settings, NativeArena arena) {
    long at = arena.allocate(IbvQpInitAttr.SIZE);
    long sendCq = ((IbverbsCompletionQueue) settings.sendQueue()).cq();
    long receiveCq = ((IbverbsCompletionQueue) settings.receiveQueue()).cq();
    Native.putLong(at + IbvQpInitAttr.SEND_CQ, sendCq);
    Native.putLong(at + IbvQpInitAttr.RECV_CQ, receiveCq);
    Native.putInt(at + IbvQpInitAttr.CAP_MAX_SEND_WR, settings.sendDepth());
    Native.putInt(at + IbvQpInitAttr.CAP_MAX_RECV_WR, settings.receiveDepth());
    Native.putInt(at + IbvQpInitAttr.CAP_MAX_SEND_SGE, settings.maxSge());
    Native.putInt(at + IbvQpInitAttr.CAP_MAX_RECV_SGE, settings.maxSge());
    Native.putInt(at + IbvQpInitAttr.QP_TYPE, VerbsLibrary.QP_TYPE_RC);
    return at;
  }

  // Posting: sends with the lock of EngineQueuePair, receives by the owner.

  @Override
  protected void writeSend(int i, WorkRequest request, long requestNumber) {
    sendArray.write(i, request, requestNumber);
  }

  @Override
  protected int submitSends(int count) {
    sendArray.link(count);
    int rc = Native.post(postSendFunction, qp, sendArray.first(), sendArray.bad());
    if (rc == 0) {
      return count;
    }
    if (!isFull(rc)) {
      failPost(refusal("ibv_post_send", rc));
    }
    return sendArray.badIndex(count);
  }

  @Override
  protected boolean submitReceive(WorkRequest request, long requestNumber) {
    receiveArray.write(0, request, requestNumber);
    receiveArray.link(1);
    int rc = Native.post(postReceiveFunction, qp, receiveArray.first(), receiveArray.bad());
    if (rc != 0 && !isFull(rc)) {
      fail(refusal("ibv_post_recv", rc));
    }
    return rc == 0;
  }

  /** A full queue takes the work later. Any other error breaks the queue pair. */
  private static boolean isFull(int rc) {
    return Math.abs(rc) == Libc.ENOMEM;
  }

  private String refusal(String call, int rc) {
    return Libraries.message(call, Math.abs(rc), "queuePair=" + number());
  }

  // Any thread.

  /**
   * Makes the device flush its work; the queue pair may be in the error state already. A device
   * that refuses may still use the memory of the work, which stays until the queue pair is
   * destroyed.
   */
  void breakOnDevice() {
    try (NativeArena one = new NativeArena()) {
      long attributes = one.allocate(IbvQpAttr.SIZE);
      Native.putInt(attributes + IbvQpAttr.QP_STATE, VerbsLibrary.QP_STATE_ERR);
      int rc = modify(attributes, VerbsLibrary.ATTR_STATE);
      if (rc != 0) {
        LOG.warn(
            "Device does not end a broken queue pair; its work stays until it is destroyed:"
                + " queuePair={} reason={}",
            number(),
            Libraries.failure("ibv_modify_qp", rc, "state=ERR").getMessage());
        setKeepsWork(true);
      }
    }
  }

  /** The connection is established: sends may be posted, and peers have their access. */
  @Override
  protected synchronized void markReady() throws VerbsException {
    if (state() == QueuePairState.INIT) {
      modifyAccess(remoteAccess);
      setReady();
    }
  }

  @Override
  protected synchronized void changeRemoteAccess(Set<AccessFlag> access) throws VerbsException {
    remoteAccess = Set.copyOf(access);
    if (state() == QueuePairState.READY_TO_SEND) {
      modifyAccess(remoteAccess);
    }
  }

  private void modifyAccess(Set<AccessFlag> access) throws VerbsException {
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

  @Override
  protected void onDestroyed() {
    device.asyncEvents().forget(qp);
  }

  @Override
  protected void free() {
    arena.close();
  }
}
