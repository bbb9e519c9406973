// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.OptionalInt;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.Transport;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.device.DeviceQueuePair;
import org.sparkrdma.verbs.engine.device.DeviceQueuePair.Outcome;
import org.sparkrdma.verbs.engine.device.RegionAccess;
import org.sparkrdma.verbs.engine.device.WorkRing;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQp;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpInitAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvWc;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * A queue pair of the device and its work, see {@link DeviceQueuePair}.
 *
 * <p>Its owner posts, polls and closes it. Another thread may break it at any time, and may close
 * it once the owner no longer uses it: close frees the memory that posting uses.
 */
final class IbverbsQueuePair extends DeviceQueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(IbverbsQueuePair.class);

  /** Maximum work requests posted with one call. */
  private static final int BATCH = 32;

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
      int name,
      long qp,
      QueuePairSettings settings) {
    super(device, domain, connection, name, Memory.getInt(qp + IbvQp.QP_NUM), settings);
    this.device = device;
    this.qp = qp;
    remoteAccess = settings.remoteAccess();
    postSendFunction = Memory.getLong(device.context() + IbvContext.OPS_POST_SEND);
    postReceiveFunction = Memory.getLong(device.context() + IbvContext.OPS_POST_RECV);
    int maxSge = settings.maxSge();
    int batch = Math.min(BATCH, settings.sendDepth());
    boolean complete = false;
    try {
      sendArray = WorkArray.ofSends(arena, batch, maxSge, device.driver());
      receiveArray = WorkArray.ofReceives(arena, 1, maxSge, device.driver());
      device.asyncEvents().listen(qp, this::onAsyncFailure);
      device.queuePairs().put(this);
      complete = true;
    } finally {
      if (!complete) {
        device.asyncEvents().forget(qp);
        arena.close();
      }
    }
  }

  // Posting, by the owner.

  @Override
  public boolean postSend(WorkRequest request) {
    checkMaySend();
    checkSend(request);
    if (sends.room() == 0) {
      return false;
    }
    sendArray.write(0, request, requestNumber(sends.add(request)));
    return submitSends(1) == 1;
  }

  @Override
  protected int postSends(WorkRequest[] requests, int offset, int count) {
    int posted = 0;
    boolean more = true;
    while (more && posted < count) {
      int batch = Math.min(Math.min(BATCH, sends.room()), count - posted);
      int submitted = submit(requests, offset + posted, batch);
      posted += submitted;
      more = submitted == batch && sends.room() > 0;
    }
    return posted;
  }

  private int submit(WorkRequest[] requests, int offset, int count) {
    int written = 0;
    int submitted = 0;
    try {
      for (; written < count; written++) {
        WorkRequest request = requests[offset + written];
        checkSend(request);
        sendArray.write(written, request, requestNumber(sends.add(request)));
      }
    } finally {
      // The requests before an invalid one are posted; then the invalid one is reported.
      submitted = submitSends(written);
    }
    return submitted;
  }

  /** Number of the last {@code count} requests that the device, or the flush, has accepted. */
  private int submitSends(int count) {
    if (count == 0) {
      return 0;
    }
    if (state() != QueuePairState.READY_TO_SEND) {
      signalFlush(sends);
      return count;
    }
    sendArray.link(count);
    int rc = Downcalls.post(postSendFunction, qp, sendArray.first(), sendArray.bad());
    int refused = rc == 0 ? 0 : count - sendArray.badIndex();
    sends.onPosted(refused);
    return rc == 0 ? count : onRefused("ibv_post_send", rc, count, refused, sends);
  }

  @Override
  public boolean postReceive(WorkRequest request) {
    checkOpen();
    checkReceive(request);
    if (receives.room() == 0) {
      return false;
    }
    receiveArray.write(0, request, requestNumber(receives.add(request) | RECEIVE_BIT));
    if (state() == QueuePairState.ERROR) {
      signalFlush(receives);
      return true;
    }
    receiveArray.link(1);
    int rc = Downcalls.post(postReceiveFunction, qp, receiveArray.first(), receiveArray.bad());
    receives.onPosted(rc == 0 ? 0 : 1);
    return rc == 0 || onRefused("ibv_post_recv", rc, 1, 1, receives) == 1;
  }

  /**
   * The owner retries a full queue later. Any other error breaks the queue pair, and all its work
   * is flushed.
   */
  private int onRefused(String call, int rc, int count, int refused, WorkRing ring) {
    if (Math.abs(rc) == Libc.ENOMEM) {
      ring.takeBack(refused);
      return count - refused;
    }
    fail(Libraries.message(call, Math.abs(rc), "queuePair=" + number()));
    return count;
  }

  // Polling, by the owner.

  /** Shows the completion at that address; {@code low} is the lower half of the request number. */
  Outcome onCompletion(int low, long completion, CompletionView view) {
    boolean ofSend = (low & RECEIVE_BIT) == 0;
    WorkRing ring = ofSend ? sends : receives;
    long position = ring.find(low & ~RECEIVE_BIT);
    if (position < 0 || isDestroyed()) {
      return Outcome.SUPPRESSED;
    }
    int code = Memory.getInt(completion + IbvWc.STATUS);
    if (code != 0) {
      int vendorError = Memory.getInt(completion + IbvWc.VENDOR_ERR);
      return showFailure(ring, position, code, vendorError, view);
    }
    return ofSend
        ? showSend(position, view)
        : showReceive(
            position,
            Memory.getInt(completion + IbvWc.OPCODE),
            Memory.getInt(completion + IbvWc.BYTE_LEN),
            Memory.getInt(completion + IbvWc.WC_FLAGS),
            Memory.getInt(completion + IbvWc.IMM_DATA),
            view);
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
      Memory.putInt(attributes + IbvQpAttr.QP_STATE, VerbsLibrary.QP_STATE_ERR);
      int rc = modify(attributes, VerbsLibrary.ATTR_STATE);
      if (rc != 0) {
        LOG.warn(
            "Device does not end a broken queue pair; its work stays until it is destroyed:"
                + " queuePair={} reason={}",
            number(),
            Libraries.failure("ibv_modify_qp", rc, "state=ERR").getMessage());
        keepWork();
      }
    }
  }

  /** The connection is established: sends may be posted, and peers have their access. */
  @Override
  public synchronized void markReady() throws VerbsException {
    if (state() == QueuePairState.INIT) {
      modifyAccess(remoteAccess);
      setReady();
    }
  }

  @Override
  public synchronized void setRemoteAccess(Set<AccessFlag> access) throws VerbsException {
    checkRemoteAccess(access);
    if (!device.info().can(Capability.QUEUE_PAIR_ACCESS)) {
      throw new UnsupportedOperationException(
          "the device cannot change access of a connected queue pair: device="
              + device.info().name());
    }
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
      Memory.putInt(attributes + IbvQpAttr.QP_ACCESS_FLAGS, RegionAccess.bits(access));
      int rc = -1;
      if (device.info().can(Capability.ON_DEMAND_PAGING)) {
        Memory.putByte(attributes + IbvQpAttr.MIN_RNR_TIMER, PAGE_FAULT_TIMER);
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
   * org.sparkrdma.verbs.engine.device.Driver} may ignore the call, too: a device that reports
   * access that was not given counts as one that refuses.
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
          Memory.getInt(attributes + IbvQpAttr.QP_ACCESS_FLAGS)
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
          && Memory.getInt(attributes + IbvQpAttr.QP_STATE) == VerbsLibrary.QP_STATE_RTS;
    }
  }

  @Override
  public synchronized OptionalInt pathMtuBytes() throws VerbsException {
    if (state() != QueuePairState.READY_TO_SEND
        || device.info().transport() != Transport.INFINIBAND) {
      return OptionalInt.empty();
    }
    try (NativeArena one = new NativeArena()) {
      long attributes = one.allocate(IbvQpAttr.SIZE);
      int rc = query(attributes, VerbsLibrary.ATTR_PATH_MTU, one);
      if (rc != 0) {
        throw Libraries.failure("ibv_query_qp", rc, "queuePair=" + number());
      }
      return OptionalInt.of(DeviceFacts.mtuBytes(attributes + IbvQpAttr.PATH_MTU));
    }
  }

  private int modify(long attributes, int mask) {
    return device.libraries().verbs().modifyQp(qp, attributes, mask);
  }

  /** The device reports a failure of the queue pair; on any thread that takes events. */
  void onAsyncFailure(String reason) {
    fail(reason);
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
