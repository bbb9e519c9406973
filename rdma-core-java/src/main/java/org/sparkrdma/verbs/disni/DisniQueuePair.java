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

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvWC;
import java.io.IOException;
import java.util.Objects;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineQueuePair;
import org.sparkrdma.verbs.engine.LimitChecks;
import org.sparkrdma.verbs.engine.StatusCodes;

/**
 * A queue pair of the device, and its work, see {@link EngineQueuePair}.
 *
 * <p>Its owner posts and polls; any thread may break or close it.
 */
final class DisniQueuePair extends EngineQueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(DisniQueuePair.class);

  private final DisniDevice device;
  private final DisniProtectionDomain domain;
  private final DisniConnection connection;
  private final int maxSge;
  private final int maxReadSge;
  private final long maxMessageBytes;
  private final DisniCompletionQueue sendCompletions;
  private final DisniCompletionQueue receiveCompletions;
  private final SendCalls sendCalls;
  private final ReceiveCalls receiveCalls;
  private boolean receivesGivenUp;

  /**
   * Takes over a queue pair of the device that was made on the connection's identifier.
   *
   * @param name the upper half of its requests' numbers
   * @param number as the device calls it
   */
  DisniQueuePair(
      DisniProtectionDomain domain,
      DisniConnection connection,
      IbvQP qp,
      int name,
      int number,
      QueuePairSettings settings) {
    super(
        name,
        number,
        settings,
        domain.device().settings().flushWaitNs(),
        domain.device().rules().mayFailSilently());
    this.domain = domain;
    this.connection = connection;
    device = domain.device();
    maxSge = settings.maxSge();
    maxReadSge = Math.min(maxSge, device.info().limits().maxReadSge());
    maxMessageBytes = device.info().limits().maxMessageBytes();
    sendCompletions = (DisniCompletionQueue) settings.sendQueue();
    receiveCompletions = (DisniCompletionQueue) settings.receiveQueue();
    sendCalls = new SendCalls(qp, device.rules());
    receiveCalls =
        new ReceiveCalls(qp, device.rules(), settings.receiveDepth(), requestNumber(RECEIVE_BIT));
    sendCompletions.retain();
    receiveCompletions.retain();
  }

  // Posting, by the owner.

  @Override
  public boolean postSend(WorkRequest request) {
    checkMaySend();
    checkSend(request);
    if (sends.room() == 0) {
      return false;
    }
    long requestNumber = requestNumber(sends.add(request));
    if (state() != QueuePairState.READY_TO_SEND) {
      sendCompletions.signal();
      return true;
    }
    try {
      sendCalls.post(request, requestNumber);
      sends.onPosted(0);
    } catch (IOException e) {
      fail(Failures.message("ibv_post_send", e, "queuePair=" + number()));
    }
    return true;
  }

  /** One by one: DiSNI's prepared calls cannot be put together. */
  @Override
  public int postSend(WorkRequest[] requests, int offset, int count) {
    Objects.checkFromIndexSize(offset, count, requests.length);
    int posted = 0;
    while (posted < count && postSend(requests[offset + posted])) {
      posted++;
    }
    return posted;
  }

  @Override
  public boolean postReceive(WorkRequest request) {
    checkOpen();
    if (request.opcode() != Opcode.RECEIVE) {
      throw new IllegalArgumentException("not a receive: opcode=" + request.opcode());
    }
    checkElements(request, maxSge, true);
    if (receives.room() == 0) {
      return false;
    }
    receives.add(request);
    if (state() == QueuePairState.ERROR) {
      receiveCompletions.signal();
      return true;
    }
    try {
      receiveCalls.post(request);
      receives.onPosted(0);
    } catch (IOException e) {
      fail(Failures.message("ibv_post_recv", e, "queuePair=" + number()));
    }
    return true;
  }

  private void checkSend(WorkRequest request) {
    Opcode opcode = request.opcode();
    if (opcode == null || opcode == Opcode.RECEIVE) {
      throw new IllegalArgumentException("not a send, read or write: opcode=" + opcode);
    }
    if ((opcode == Opcode.WRITE_WITH_IMMEDIATE || opcode == Opcode.SEND_WITH_IMMEDIATE)
        && !device.rules().hasImmediateData()) {
      throw new IllegalArgumentException("the device has no immediate data: opcode=" + opcode);
    }
    if (request.isInline()) {
      throw new IllegalArgumentException("the device has no inline data");
    }
    checkElements(request, opcode == Opcode.READ ? maxReadSge : maxSge, false);
  }

  private void checkElements(WorkRequest request, int limit, boolean writable) {
    LimitChecks.checkLength(request, limit, maxMessageBytes);
    for (int i = 0; i < request.elementCount(); i++) {
      if (!(request.region(i) instanceof DisniRegion region) || region.domain() != domain) {
        throw new IllegalArgumentException("memory of another protection domain: element=" + i);
      }
      if (writable && !region.isLocallyWritable()) {
        throw new IllegalArgumentException("memory without LOCAL_WRITE: element=" + i);
      }
    }
  }

  // Polling, by the owner.

  /** Shows a completion of one of its requests. */
  Shown onCompletion(IbvWC completion, CompletionView view) {
    int low = (int) completion.getWr_id();
    boolean ofSend = (low & RECEIVE_BIT) == 0;
    long position = ofSend ? sends.find(low) : oldestReceive();
    if (position < 0 || isDestroyed()) {
      return Shown.NOT;
    }
    int code = completion.getStatus();
    if (code == 0) {
      return ofSend ? showSend(position, view) : showReceive(completion, position, view);
    }
    WorkStatus status = StatusCodes.of(code);
    fail("work failed: status=" + status);
    return showFailure(ofSend ? sends : receives, position, status, 0, view);
  }

  private Shown showReceive(IbvWC completion, long position, CompletionView view) {
    return showReceive(
        position,
        completion.getOpcode(),
        completion.getByte_len(),
        completion.getWc_flags(),
        completion.getImm_data(),
        view);
  }

  /** Of which the completion is, as receives complete in order; -1 when it came too late. */
  private long oldestReceive() {
    return receivesGivenUp || !receives.isWithDevice() ? -1 : receives.head();
  }

  @Override
  protected boolean flushOne(CompletionQueue queue, long nowNs, CompletionView view) {
    if (sendCompletions == queue && flushOne(sends, nowNs, view)) {
      return true;
    }
    boolean flushed = receiveCompletions == queue && flushOne(receives, nowNs, view);
    receivesGivenUp |= flushed;
    return flushed;
  }

  // Any thread.

  /** The device will do no more work: ends the connection, and all work is flushed. */
  private void fail(String reason) {
    if (markBroken()) {
      LOG.debug("queue pair {} is broken: {}", number(), reason);
      connection.onQueuePairBroken(reason);
    }
  }

  /** As {@link #fail}, told by the connection. */
  boolean markBroken() {
    synchronized (this) {
      if (!setBroken()) {
        return false;
      }
    }
    sendCompletions.onBroken(this);
    if (receiveCompletions != sendCompletions) {
      receiveCompletions.onBroken(this);
    }
    return true;
  }

  /** The connection has been made: sends may be posted. */
  synchronized void markReady() {
    setReady();
  }

  @Override
  public void setRemoteAccess(Set<AccessFlag> access) {
    throw new UnsupportedOperationException("DiSNI cannot change what peers may do: " + access);
  }

  @Override
  public void close() {
    if (!markDestroyed()) {
      return;
    }
    connection.onQueuePairClosed();
    device.queuePairs().remove(this);
    sendCompletions.release(this);
    receiveCompletions.release(this);
    domain.onClosed(this);
    sendCalls.close();
    receiveCalls.close();
  }

  private synchronized boolean markDestroyed() {
    return setDestroyed();
  }
}
