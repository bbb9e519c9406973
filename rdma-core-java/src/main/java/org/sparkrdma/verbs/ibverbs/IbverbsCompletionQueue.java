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

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.BrokenQueuePairs;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineQueuePair.Shown;
import org.sparkrdma.verbs.engine.QueuePairTable;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvCq;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvWc;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;

/**
 * A completion queue of the device, and behind it what the device will never complete: the work of
 * broken queue pairs, see {@link BrokenQueuePairs}. Polled by its one owner thread; queue pairs
 * report that they broke from any thread.
 */
final class IbverbsCompletionQueue implements CompletionQueue {
  /** Completions taken from the device with one call. */
  private static final int BATCH = 32;

  private final IbverbsDevice device;
  private final IbverbsCompletionChannel channel;
  private final QueuePairTable<IbverbsQueuePair> queuePairs;
  private final long cq;
  private final int capacity;
  private final long pollFunction;
  private final long notifyFunction;
  private final NativeArena arena = new NativeArena();
  private final long taken = arena.allocate((long) BATCH * IbvWc.SIZE);
  private final CompletionView view = new CompletionView();
  private final AtomicInteger users = new AtomicInteger();
  private final BrokenQueuePairs broken = new BrokenQueuePairs(this);
  private final LongSupplier deadline = broken::deadlineNs;
  private volatile boolean overrun;
  private volatile boolean closed;

  // The polling thread's: what was taken from the device and not yet handed over.
  private int next;
  private int end;

  private IbverbsCompletionQueue(
      IbverbsDevice device, long cq, int capacity, IbverbsCompletionChannel channel) {
    this.device = device;
    this.cq = cq;
    this.capacity = capacity;
    this.channel = channel;
    queuePairs = device.queuePairs();
    pollFunction = Memory.getLong(device.context() + IbvContext.OPS_POLL_CQ);
    notifyFunction = Memory.getLong(device.context() + IbvContext.OPS_REQ_NOTIFY_CQ);
    device.asyncEvents().listen(cq, this::onOverrun);
    if (channel != null) {
      channel.addDeadline(deadline);
    }
  }

  static IbverbsCompletionQueue create(
      IbverbsDevice device, int capacity, IbverbsCompletionChannel channel) throws VerbsException {
    long cq =
        device
            .libraries()
            .verbs()
            .createCq(device.context(), capacity, channel == null ? 0 : channel.channel());
    if (cq == 0) {
      throw Libraries.failure("ibv_create_cq", "capacity=" + capacity);
    }
    return new IbverbsCompletionQueue(device, cq, Memory.getInt(cq + IbvCq.CQE), channel);
  }

  IbverbsDevice device() {
    return device;
  }

  long cq() {
    return cq;
  }

  @Override
  public int capacity() {
    return capacity;
  }

  @Override
  public int poll(int limit, CompletionHandler handler) {
    if (closed) {
      throw new IllegalStateException("completion queue is closed");
    }
    int handled = 0;
    boolean more = true;
    while (handled < limit && more) {
      if (next == end) {
        more = take(Math.min(BATCH, limit - handled));
      }
      while (next < end && handled < limit) {
        if (showNext()) {
          handled++;
          view.hand(handler);
        }
      }
    }
    if (!broken.isEmpty() && handled < limit && !overrun) {
      handled += broken.flush(limit - handled, view, handler);
    }
    if (handled == 0 && overrun) {
      throw new IllegalStateException("completion queue was overrun: capacity=" + capacity);
    }
    return handled;
  }

  /** Shows the next of those taken; false when nobody is to see it. */
  private boolean showNext() {
    long completion = Memory.inRange(taken + (long) next * IbvWc.SIZE);
    long number = Memory.getLong(completion + IbvWc.WR_ID);
    IbverbsQueuePair queuePair = queuePairs.find(number);
    Shown shown =
        queuePair == null ? Shown.NOT : queuePair.onCompletion((int) number, completion, view);
    if (shown != Shown.AN_EARLIER_ONE) {
      next++;
    }
    return shown != Shown.NOT;
  }

  /** Takes completions from the device; true when there may be more of them. */
  private boolean take(int count) {
    int found = Downcalls.pollCq(pollFunction, cq, count, taken);
    if (found < 0) {
      throw new IllegalStateException(
          "ibv_poll_cq failed: rc=" + found + " capacity=" + capacity + " overrun=" + overrun);
    }
    next = 0;
    end = found;
    return found == count;
  }

  @Override
  public void arm() {
    if (channel == null) {
      throw new IllegalStateException("completion queue has no channel");
    }
    channel.onArmed();
    int rc = Downcalls.requestNotify(notifyFunction, cq);
    if (rc != 0) {
      throw new IllegalStateException("ibv_req_notify_cq failed: rc=" + rc);
    }
  }

  private void onOverrun(String reason) {
    overrun = true;
    device
        .queuePairs()
        .forEach(
            queuePair -> {
              if (queuePair.completesIn(this)) {
                queuePair.fail(reason);
              }
            });
    signal();
  }

  /** A queue pair broke: the polling thread is to look after its work. */
  void onBroken(IbverbsQueuePair queuePair) {
    broken.add(queuePair);
    signal();
  }

  /** There is something to poll that the device does not know of. */
  void signal() {
    if (channel != null) {
      channel.wakeup();
    }
  }

  void retain() {
    users.incrementAndGet();
  }

  void release(IbverbsQueuePair queuePair) {
    broken.remove(queuePair);
    users.decrementAndGet();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      if (users.get() > 0) {
        throw new IllegalStateException("queue pairs complete in it: queuePairs=" + users.get());
      }
      closed = true;
    }
    if (channel != null) {
      channel.removeDeadline(deadline);
    }
    device.asyncEvents().forget(cq);
    device.libraries().verbs().destroyCq(cq);
    arena.close();
    device.forget(this);
  }
}
