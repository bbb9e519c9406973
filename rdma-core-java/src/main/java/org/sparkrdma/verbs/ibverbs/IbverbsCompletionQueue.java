// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.device.DeviceCompletionQueue;
import org.sparkrdma.verbs.engine.device.DeviceQueuePair.Outcome;
import org.sparkrdma.verbs.engine.device.QueuePairTable;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvCq;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvWc;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;

/** A completion queue of libibverbs. Polled by its one owner thread. */
final class IbverbsCompletionQueue extends DeviceCompletionQueue {
  private final IbverbsDevice device;
  private final IbverbsCompletionChannel channel;
  private final QueuePairTable<IbverbsQueuePair> queuePairs;
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
    queuePairs = device.queuePairs();
    pollFunction = Memory.getLong(device.context() + IbvContext.OPS_POLL_CQ);
    notifyFunction = Memory.getLong(device.context() + IbvContext.OPS_REQ_NOTIFY_CQ);
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
    return new IbverbsCompletionQueue(device, cq, Memory.getInt(cq + IbvCq.CQE), channel);
  }

  long cq() {
    return cq;
  }

  @Override
  protected int take(int count) {
    int found = Downcalls.pollCq(pollFunction, cq, count, taken);
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
  protected Outcome show(int index, CompletionView view) {
    long completion = Memory.inRange(taken + (long) index * IbvWc.SIZE);
    long number = Memory.getLong(completion + IbvWc.WR_ID);
    IbverbsQueuePair queuePair = queuePairs.find(number);
    return queuePair == null
        ? Outcome.SUPPRESSED
        : queuePair.onCompletion((int) number, completion, view);
  }

  @Override
  protected void requestNotification() {
    channel.onArmed();
    int rc = Downcalls.requestNotify(notifyFunction, cq);
    if (rc != 0) {
      throw new IllegalStateException("ibv_req_notify_cq failed: rc=" + rc);
    }
  }

  private void onOverrun(String reason) {
    markOverrun();
    device
        .queuePairs()
        .forEach(
            queuePair -> {
              if (queuePair.completesIn(this)) {
                queuePair.onAsyncFailure(reason);
              }
            });
  }

  @Override
  protected void destroy() {
    super.destroy();
    device.asyncEvents().forget(cq);
    device.onReleased("ibv_destroy_cq", device.libraries().verbs().destroyCq(cq), "");
    arena.close();
  }
}
