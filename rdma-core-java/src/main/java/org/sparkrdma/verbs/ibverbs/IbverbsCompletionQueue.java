// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.StatusCodes;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvCq;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvWc;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;

/** A completion queue of libibverbs. Polled by its one owner thread. */
final class IbverbsCompletionQueue extends EngineCompletionQueue {
  private final IbverbsDevice device;
  private final IbverbsCompletionChannel channel;
  private final long cq;
  private final long pollFunction;
  private final long notifyFunction;
  private final NativeArena arena = new NativeArena();
  private final long taken = arena.allocate((long) BATCH * IbvWc.SIZE);

  private IbverbsCompletionQueue(
      IbverbsDevice device, long cq, int capacity, IbverbsCompletionChannel channel) {
    super(device, capacity, channel);
    this.device = device;
    this.cq = cq;
    this.channel = channel;
    pollFunction = Native.getLong(device.context() + IbvContext.OPS_POLL_CQ);
    notifyFunction = Native.getLong(device.context() + IbvContext.OPS_REQ_NOTIFY_CQ);
    device.asyncEvents().listen(cq, this::onOverrun);
  }

  static IbverbsCompletionQueue create(
      IbverbsDevice device, int capacity, IbverbsCompletionChannel channel, int vector)
      throws VerbsException {
    long cq =
        device
            .libraries()
            .verbs()
            .createCq(device.context(), capacity, channel == null ? 0 : channel.channel(), vector);
    if (cq == 0) {
      throw Libraries.failure("ibv_create_cq", "capacity=" + capacity + " vector=" + vector);
    }
    return new IbverbsCompletionQueue(device, cq, Native.getInt(cq + IbvCq.CQE), channel);
  }

  long cq() {
    return cq;
  }

  @Override
  protected int take(int count) {
    int found = Native.pollCq(pollFunction, cq, count, taken);
    if (found < 0) {
      throw new IllegalStateException(
          "ibv_poll_cq failed: rc="
              + found
              + " capacity="
              + capacity()
              + " overrun="
              + isOverrun());
    }
    return found;
  }

  @Override
  protected void read(int index, CompletionView into) {
    long completion = taken + (long) index * IbvWc.SIZE;
    into.set(
        Native.getLong(completion + IbvWc.WR_ID),
        StatusCodes.of(Native.getInt(completion + IbvWc.STATUS)),
        Native.getInt(completion + IbvWc.VENDOR_ERR),
        Native.getInt(completion + IbvWc.OPCODE) == StatusCodes.RECEIVED_WITH_WRITE,
        Integer.toUnsignedLong(Native.getInt(completion + IbvWc.BYTE_LEN)),
        (Native.getInt(completion + IbvWc.WC_FLAGS) & StatusCodes.WITH_IMMEDIATE) != 0,
        Integer.reverseBytes(Native.getInt(completion + IbvWc.IMM_DATA)));
  }

  @Override
  protected void requestNotification() {
    channel.onArmed();
    int rc = Native.requestNotify(notifyFunction, cq);
    if (rc != 0) {
      throw new IllegalStateException("ibv_req_notify_cq failed: rc=" + rc);
    }
  }

  @Override
  protected void destroyQueue() {
    device.asyncEvents().forget(cq);
    device.onReleased("ibv_destroy_cq", device.libraries().verbs().destroyCq(cq), "");
    arena.close();
  }
}
