// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.util.Arrays;
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
  private final IbvCompChannel events;
  private final IbvCQ cq;
  private final IbvWC[] taken = new IbvWC[BATCH];
  private final SVCPollCq pollCall;
  private final SVCReqNotify notifyCall;

  /** Null for a queue that is only polled. */
  private Watcher watcher;

  DisniCompletionQueue(DisniDevice device, int capacity, EngineChannel channel)
      throws VerbsException {
    super(device, capacity, channel);
    Arrays.setAll(taken, i -> new IbvWC());
    try {
      events = device.context().createCompChannel();
      cq = device.context().createCQ(events, capacity, 0);
      pollCall = cq.poll(taken, BATCH);
      notifyCall = cq.reqNotification(false);
    } catch (IOException e) {
      destroyQueue();
      throw Failures.of("ibv_create_cq", e, "capacity=" + capacity);
    }
    if (channel != null) {
      watcher =
          new Watcher(
              device.threads(),
              "rdma-disni-completions",
              this::watch,
              () -> device.offerDown("events of completions have ended; the log has the cause"));
      boolean started = false;
      try {
        watcher.start();
        started = true;
      } finally {
        if (!started) {
          destroyQueue();
        }
      }
    }
  }

  private void watch() throws IOException {
    if (events.getCqEvent(cq, Watcher.TURN_MS)) {
      cq.ackEvents(1);
      signal();
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
      throw new IllegalStateException(Failures.message("ibv_poll_cq", e, ""), e);
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

  /** Destroys what was created, each object also when the one before was not destroyed. */
  @Override
  protected void destroyQueue() {
    if (watcher != null) {
      watcher.close();
    }
    if (pollCall != null) {
      pollCall.free();
    }
    if (cq != null) {
      Failures.release("ibv_destroy_cq", cq::destroyCQ);
    }
    if (events != null) {
      Failures.release("ibv_destroy_comp_channel", events::destroyCompChannel);
    }
  }
}
