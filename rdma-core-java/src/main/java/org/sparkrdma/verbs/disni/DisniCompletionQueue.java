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
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.BrokenQueuePairs;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineQueuePair.Shown;

/**
 * A completion queue of the device, and behind it what the device will never complete: the work of
 * broken queue pairs, see {@link BrokenQueuePairs}. Polled by its one owner thread; a watcher waits
 * for its events, and queue pairs report that they broke from any thread.
 *
 * <p>DiSNI tells nothing of a queue that was overrun: its users keep the depths of their queue
 * pairs within the capacity.
 */
final class DisniCompletionQueue implements CompletionQueue {
  private static final Logger LOG = LoggerFactory.getLogger(DisniCompletionQueue.class);

  /** Completions taken from the device with one call. */
  private static final int BATCH = 32;

  private final DisniDevice device;
  private final DisniCompletionChannel channel;
  private final int capacity;
  private final IbvCompChannel events;
  private final IbvCQ cq;
  private final Watcher watcher;
  private final IbvWC[] taken = new IbvWC[BATCH];
  private final SVCPollCq pollCall;
  private final SVCReqNotify notifyCall;
  private final CompletionView view = new CompletionView();
  private final AtomicInteger users = new AtomicInteger();
  private final BrokenQueuePairs broken = new BrokenQueuePairs(this);
  private final LongSupplier deadline = broken::deadlineNs;
  private volatile boolean closed;

  // The polling thread's: what was taken from the device and not yet handed over.
  private int next;
  private int end;

  private DisniCompletionQueue(
      DisniDevice device,
      int capacity,
      DisniCompletionChannel channel,
      IbvCompChannel events,
      IbvCQ cq)
      throws IOException {
    this.device = device;
    this.capacity = capacity;
    this.channel = channel;
    this.events = events;
    this.cq = cq;
    for (int i = 0; i < BATCH; i++) {
      taken[i] = new IbvWC();
    }
    pollCall = cq.poll(taken, BATCH);
    notifyCall = cq.reqNotification(false);
    watcher = channel == null ? null : new Watcher("rdma-disni-completions", this::watch);
  }

  static DisniCompletionQueue create(
      DisniDevice device, int capacity, DisniCompletionChannel channel) throws VerbsException {
    IbvContext context = device.context().context();
    try {
      IbvCompChannel events = context.createCompChannel();
      try {
        var queue =
            new DisniCompletionQueue(
                device, capacity, channel, events, context.createCQ(events, capacity, 0));
        queue.start();
        return queue;
      } catch (IOException e) {
        events.destroyCompChannel();
        throw e;
      }
    } catch (IOException e) {
      throw Failures.of("ibv_create_cq", e, "capacity=" + capacity);
    }
  }

  private void start() {
    if (watcher != null) {
      channel.addDeadline(deadline);
      watcher.start();
    }
  }

  private void watch() throws IOException {
    if (events.getCqEvent(cq, Watcher.TURN_MS)) {
      cq.ackEvents(1);
      channel.wakeup();
    }
  }

  DisniDevice device() {
    return device;
  }

  IbvCQ cq() {
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
        more = take();
      }
      while (next < end && handled < limit) {
        if (showNext()) {
          handled++;
          view.hand(handler);
        }
      }
    }
    if (handled < limit && !broken.isEmpty()) {
      handled += broken.flush(limit - handled, view, handler);
    }
    return handled;
  }

  /** Takes completions from the device; true when there may be more of them. */
  private boolean take() {
    next = 0;
    end = 0;
    try {
      pollCall.execute();
    } catch (IOException e) {
      throw new IllegalStateException(
          Failures.message("ibv_poll_cq", e, "capacity=" + capacity), e);
    }
    end = pollCall.getPolls();
    return end == BATCH;
  }

  /** Shows the next of those taken; false when nobody is to see it. */
  private boolean showNext() {
    IbvWC completion = taken[next];
    DisniQueuePair queuePair = device.queuePairs().find(completion.getWr_id());
    Shown shown = queuePair == null ? Shown.NOT : queuePair.onCompletion(completion, view);
    if (shown != Shown.AN_EARLIER_ONE) {
      next++;
    }
    return shown != Shown.NOT;
  }

  @Override
  public void arm() {
    if (channel == null) {
      throw new IllegalStateException("completion queue has no channel");
    }
    try {
      notifyCall.execute();
    } catch (IOException e) {
      throw new IllegalStateException(Failures.message("ibv_req_notify_cq", e, ""), e);
    }
  }

  /** A queue pair broke: the polling thread is to look after its work. */
  void onBroken(DisniQueuePair queuePair) {
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

  void release(DisniQueuePair queuePair) {
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
    if (watcher != null) {
      channel.removeDeadline(deadline);
      watcher.close();
    }
    pollCall.free();
    try {
      Failures.check("ibv_destroy_cq", cq.destroyCQ());
      Failures.check("ibv_destroy_comp_channel", events.destroyCompChannel());
    } catch (IOException e) {
      LOG.error("completion queue was not destroyed: capacity={}", capacity, e);
    }
    device.forget(this);
  }
}
