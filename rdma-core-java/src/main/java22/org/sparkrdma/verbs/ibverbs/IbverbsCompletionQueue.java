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

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvContext;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvCq;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvWc;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;

/**
 * A completion queue of the device, and behind it what the device will never complete: the work of
 * broken queue pairs, see {@link IbverbsQueuePair#flushOne}. Polled by its one owner thread; queue
 * pairs report that they broke from any thread.
 */
final class IbverbsCompletionQueue implements CompletionQueue {
  /** Completions taken from the device with one call. */
  private static final int BATCH = 32;

  private static final IbverbsQueuePair[] NONE = {};

  private final IbverbsDevice device;
  private final IbverbsCompletionChannel channel;
  private final QueuePairTable queuePairs;
  private final long cq;
  private final int capacity;
  private final MemorySegment pollFunction;
  private final MemorySegment notifyFunction;
  private final Arena arena = Arena.ofShared();
  private final long taken = arena.allocate((long) BATCH * IbvWc.SIZE, Long.BYTES).address();
  private final IbverbsCompletion view = new IbverbsCompletion();
  private final AtomicInteger users = new AtomicInteger();
  private final LongSupplier deadline = this::flushDeadlineNs;
  private volatile IbverbsQueuePair[] broken = NONE;
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
    pollFunction = Memory.function(device.context() + IbvContext.OPS_POLL_CQ);
    notifyFunction = Memory.function(device.context() + IbvContext.OPS_REQ_NOTIFY_CQ);
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
          hand(handler);
        }
      }
    }
    if (broken.length > 0 && handled < limit && !overrun) {
      handled += flush(limit - handled, handler);
    }
    if (handled == 0 && overrun) {
      throw new IllegalStateException("completion queue was overrun: capacity=" + capacity);
    }
    return handled;
  }

  /** Shows the next of those taken; false when nobody is to see it. */
  private boolean showNext() {
    long completion = taken + (long) next * IbvWc.SIZE;
    IbverbsQueuePair queuePair = queuePairs.find(Memory.getLong(completion + IbvWc.WR_ID));
    IbverbsQueuePair.Shown shown =
        queuePair == null ? IbverbsQueuePair.Shown.NOT : queuePair.onCompletion(completion, view);
    if (shown != IbverbsQueuePair.Shown.AN_EARLIER_ONE) {
      next++;
    }
    return shown != IbverbsQueuePair.Shown.NOT;
  }

  /** Takes completions from the device; true when there may be more of them. */
  private boolean take(int count) {
    next = 0;
    end = 0;
    int found = Downcalls.pollCq(pollFunction, cq, count, taken);
    if (found < 0) {
      throw new IllegalStateException(
          "ibv_poll_cq failed: rc=" + found + " capacity=" + capacity + " overrun=" + overrun);
    }
    end = found;
    return found == count;
  }

  private void hand(CompletionHandler handler) {
    try {
      handler.onCompletion(view);
    } finally {
      view.invalidate();
    }
  }

  private int flush(int limit, CompletionHandler handler) {
    long now = System.nanoTime();
    int handled = 0;
    for (IbverbsQueuePair queuePair : broken) {
      while (handled < limit && queuePair.flushOne(this, now, view)) {
        handled++;
        hand(handler);
      }
    }
    return handled;
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
    synchronized (this) {
      var all = new ArrayList<>(List.of(broken));
      all.add(queuePair);
      broken = all.toArray(NONE);
    }
    signal();
  }

  /** There is something to poll that the device does not know of. */
  void signal() {
    if (channel != null) {
      channel.wakeup();
    }
  }

  /** When the next work is to be flushed. */
  private long flushDeadlineNs() {
    long least = Long.MAX_VALUE;
    for (IbverbsQueuePair queuePair : broken) {
      long at = queuePair.flushDeadlineNs();
      if (at != Long.MAX_VALUE && (least == Long.MAX_VALUE || at - least < 0)) {
        least = at;
      }
    }
    return least;
  }

  void retain() {
    users.incrementAndGet();
  }

  void release(IbverbsQueuePair queuePair) {
    synchronized (this) {
      var all = new ArrayList<>(List.of(broken));
      all.remove(queuePair);
      broken = all.toArray(NONE);
    }
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
