// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.StatusCodes;

/**
 * A completion queue of DiSNI. Polled by its one owner thread; a watcher waits for its events.
 *
 * <p>DiSNI does not report a queue that was overrun: its users keep the depths of their queue pairs
 * within the capacity.
 */
final class DisniCompletionQueue extends EngineCompletionQueue {
  private static final Logger LOG = LoggerFactory.getLogger(DisniCompletionQueue.class);

  private final EngineChannel channel;
  private final IbvCompChannel events;
  private final IbvCQ cq;
  private final Watcher watcher;
  private final IbvWC[] taken = new IbvWC[BATCH];
  private final SVCPollCq pollCall;
  private final SVCReqNotify notifyCall;

  private DisniCompletionQueue(
      DisniDevice device, int capacity, EngineChannel channel, Acquired acquired)
      throws IOException {
    super(device, capacity, channel);
    this.channel = channel;
    events = device.context().createCompChannel();
    acquired.add(() -> destroy(events));
    cq = device.context().createCQ(events, capacity, 0);
    acquired.add(() -> destroy(cq));
    Arrays.setAll(taken, i -> new IbvWC());
    pollCall = cq.poll(taken, BATCH);
    acquired.add(pollCall::free);
    notifyCall = cq.reqNotification(false);
    watcher =
        channel == null
            ? null
            : new Watcher(
                "rdma-disni-completions",
                this::watch,
                () -> device.offerDown("events of completions have ended; the log has the cause"));
  }

  static DisniCompletionQueue create(DisniDevice device, int capacity, EngineChannel channel)
      throws VerbsException {
    try (var acquired = new Acquired()) {
      var queue = new DisniCompletionQueue(device, capacity, channel, acquired);
      acquired.keep();
      queue.start();
      return queue;
    } catch (IOException e) {
      throw Failures.of("ibv_create_cq", e, "capacity=" + capacity);
    }
  }

  private void start() {
    if (watcher != null) {
      watcher.start();
    }
  }

  private void watch() throws IOException {
    if (events.getCqEvent(cq, Watcher.TURN_MS)) {
      cq.ackEvents(1);
      channel.wakeup();
    }
  }

  IbvCQ cq() {
    return cq;
  }

  /** Takes up to {@link #BATCH}: the call is prepared for that many. */
  @Override
  protected int take(int count) {
    try {
      pollCall.execute();
    } catch (IOException e) {
      throw new IllegalStateException(
          Failures.message("ibv_poll_cq", e, "capacity=" + capacity()), e);
    }
    return pollCall.getPolls();
  }

  @Override
  protected void read(int index, CompletionView into) {
    IbvWC completion = taken[index];
    into.set(
        completion.getWr_id(),
        StatusCodes.of(completion.getStatus()),
        0,
        completion.getOpcode() == StatusCodes.RECEIVED_WITH_WRITE,
        Integer.toUnsignedLong(completion.getByte_len()),
        (completion.getWc_flags() & StatusCodes.WITH_IMMEDIATE) != 0,
        Integer.reverseBytes(completion.getImm_data()));
  }

  @Override
  protected void requestNotification() {
    try {
      notifyCall.execute();
    } catch (IOException e) {
      throw new IllegalStateException(Failures.message("ibv_req_notify_cq", e, ""), e);
    }
  }

  private static void destroy(IbvCQ cq) throws IOException {
    Failures.check("ibv_destroy_cq", cq.destroyCQ());
  }

  private static void destroy(IbvCompChannel events) throws IOException {
    Failures.check("ibv_destroy_comp_channel", events.destroyCompChannel());
  }

  @Override
  protected void destroyQueue() {
    if (watcher != null) {
      watcher.close();
    }
    pollCall.free();
    release(() -> destroy(cq));
    // Also when the queue was not destroyed: nothing closes it later.
    release(() -> destroy(events));
  }

  private void release(Acquired.Release release) {
    try {
      release.run();
    } catch (IOException e) {
      LOG.error("Completion queue was not destroyed: capacity={}", capacity(), e);
    }
  }
}
