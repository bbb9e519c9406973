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
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;

/**
 * A queue pair of the device, and the places of its queues.
 *
 * <p>Once it is broken, new work no longer goes to the device but is flushed here; and what the
 * device had and has not given back some time later is flushed here too, since not every device
 * gives back all of it. A completion that comes after that finds its place given up.
 *
 * <p>Its owner posts and polls; any thread may break or close it.
 */
final class DisniQueuePair implements QueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(DisniQueuePair.class);

  private static final int RECEIVE_BIT = 1 << 31;
  private static final int RECEIVED_WITH_WRITE = 129;
  private static final int WITH_IMMEDIATE = 2;
  private static final WorkStatus[] STATUSES = {
    WorkStatus.SUCCESS,
    WorkStatus.LOCAL_LENGTH_ERROR,
    WorkStatus.LOCAL_QUEUE_PAIR_ERROR,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.LOCAL_PROTECTION_ERROR,
    WorkStatus.FLUSH_ERROR,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.REMOTE_INVALID_REQUEST,
    WorkStatus.REMOTE_ACCESS_ERROR,
    WorkStatus.REMOTE_OPERATION_ERROR,
    WorkStatus.RETRY_EXCEEDED,
    WorkStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.REMOTE_ABORTED
  };

  private final DisniDevice device;
  private final DisniProtectionDomain domain;
  private final DisniConnection connection;
  private final int name;
  private final int number;
  private final int maxSge;
  private final int maxReadSge;
  private final long maxMessageBytes;
  private final DisniCompletionQueue sendCompletions;
  private final DisniCompletionQueue receiveCompletions;
  private final SendCalls sendCalls;
  private final ReceiveCalls receiveCalls;
  private final WorkRing sends;
  private final WorkRing receives;
  private boolean receivesGivenUp;
  private volatile QueuePairState state = QueuePairState.INIT;
  private volatile long brokenAtNs;

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
    this.domain = domain;
    this.connection = connection;
    this.name = name;
    this.number = number;
    device = domain.device();
    maxSge = settings.maxSge();
    maxReadSge = Math.min(maxSge, device.info().limits().maxReadSge());
    maxMessageBytes = device.info().limits().maxMessageBytes();
    sendCompletions = (DisniCompletionQueue) settings.sendQueue();
    receiveCompletions = (DisniCompletionQueue) settings.receiveQueue();
    sendCalls = new SendCalls(qp, device.rules());
    receiveCalls =
        new ReceiveCalls(qp, device.rules(), settings.receiveDepth(), requestNumber(RECEIVE_BIT));
    sends = new WorkRing(settings.sendDepth());
    receives = new WorkRing(settings.receiveDepth());
    sendCompletions.retain();
    receiveCompletions.retain();
  }

  int name() {
    return name;
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairState state() {
    return state;
  }

  // Posting, by the owner.

  @Override
  public boolean postSend(WorkRequest request) {
    if (state == QueuePairState.INIT || state == QueuePairState.DESTROYED) {
      throw new IllegalStateException("not connected: state=" + state);
    }
    checkSend(request);
    if (sends.isFull()) {
      return false;
    }
    long requestNumber = requestNumber(sends.add(request));
    if (state != QueuePairState.READY_TO_SEND) {
      sendCompletions.signal();
      return true;
    }
    try {
      sendCalls.post(request, requestNumber);
      sends.onPosted();
    } catch (IOException e) {
      fail(Failures.message("ibv_post_send", e, "queuePair=" + number));
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
    if (state == QueuePairState.DESTROYED) {
      throw new IllegalStateException("queue pair is closed");
    }
    if (request.opcode() != Opcode.RECEIVE) {
      throw new IllegalArgumentException("not a receive: opcode=" + request.opcode());
    }
    checkElements(request, maxSge, true);
    if (receives.isFull()) {
      return false;
    }
    receives.add(request);
    if (state == QueuePairState.ERROR) {
      receiveCompletions.signal();
      return true;
    }
    try {
      receiveCalls.post(request);
      receives.onPosted();
    } catch (IOException e) {
      fail(Failures.message("ibv_post_recv", e, "queuePair=" + number));
    }
    return true;
  }

  private long requestNumber(int low) {
    return ((long) name << Integer.SIZE) | Integer.toUnsignedLong(low);
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
    if (request.elementCount() > limit || request.totalBytes() > maxMessageBytes) {
      throw new IllegalArgumentException(
          "over the limit: elements="
              + (request.elementCount() + " limit=" + limit)
              + (" lengthBytes=" + request.totalBytes())
              + (" limit=" + maxMessageBytes));
    }
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

  /** What becomes of a completion of the device. */
  enum Shown {
    /** Nobody is to see it: its place was given up, or the queue pair is closed. */
    NOT,
    /** It is shown. */
    YES,
    /** One that the device left out is shown before it; it is to be offered again. */
    AN_EARLIER_ONE
  }

  /** Shows a completion of one of its requests. */
  Shown onCompletion(IbvWC completion, DisniCompletion view) {
    int low = (int) completion.getWr_id();
    boolean ofSend = (low & RECEIVE_BIT) == 0;
    WorkRing ring = ofSend ? sends : receives;
    long position = ofSend ? sends.find(low) : oldestReceive();
    if (position < 0 || state == QueuePairState.DESTROYED) {
      return Shown.NOT;
    }
    int code = completion.getStatus();
    if (code == 0) {
      show(completion, view, ring, position, ofSend);
      ring.free(position);
      return Shown.YES;
    }
    WorkStatus status =
        code > 0 && code < STATUSES.length ? STATUSES[code] : WorkStatus.GENERAL_ERROR;
    fail("work failed: status=" + status);
    if (ring.head() < position && device.rules().mayFailSilently()) {
      showFlushed(ring, view);
      return Shown.AN_EARLIER_ONE;
    }
    view.setFailure(ring.id(position), number, status);
    ring.free(position);
    return Shown.YES;
  }

  private void showFlushed(WorkRing ring, DisniCompletion view) {
    view.setFailure(ring.id(ring.head()), number, WorkStatus.FLUSH_ERROR);
    ring.free(ring.head());
  }

  /** Of which the completion is, as receives complete in order; -1 when it came too late. */
  private long oldestReceive() {
    return receivesGivenUp || !receives.isWithDevice() ? -1 : receives.head();
  }

  private void show(
      IbvWC completion, DisniCompletion view, WorkRing ring, long position, boolean ofSend) {
    if (ofSend) {
      view.setSuccess(ring.id(position), number, ring.opcode(position), ring.length(position));
      return;
    }
    boolean withWrite = completion.getOpcode() == RECEIVED_WITH_WRITE;
    view.setSuccess(
        ring.id(position),
        number,
        withWrite ? Opcode.RECEIVE_WRITE_WITH_IMMEDIATE : Opcode.RECEIVE,
        Integer.toUnsignedLong(completion.getByte_len()));
    if ((completion.getWc_flags() & WITH_IMMEDIATE) != 0) {
      view.setImmediate(Integer.reverseBytes(completion.getImm_data()));
    }
  }

  /**
   * Flushes the oldest work of a broken queue pair that the device never got, or has had for too
   * long.
   *
   * @return whether there was any; it is shown then
   */
  boolean flushOne(DisniCompletionQueue queue, long nowNs, DisniCompletion view) {
    if (sendCompletions == queue && flushOne(sends, nowNs, view)) {
      return true;
    }
    boolean flushed = receiveCompletions == queue && flushOne(receives, nowNs, view);
    receivesGivenUp |= flushed;
    return flushed;
  }

  private boolean flushOne(WorkRing ring, long nowNs, DisniCompletion view) {
    if (state != QueuePairState.ERROR
        || ring.isEmpty()
        || (ring.isWithDevice() && nowNs - brokenAtNs < device.settings().flushWaitNs())) {
      return false;
    }
    showFlushed(ring, view);
    return true;
  }

  /** When work that is with the device will be given up; Long.MAX_VALUE when there is none. */
  long flushDeadlineNs() {
    return sends.isEmpty() && receives.isEmpty()
        ? Long.MAX_VALUE
        : brokenAtNs + device.settings().flushWaitNs();
  }

  // Any thread.

  /** The device will do no more work: ends the connection, and all work is flushed. */
  private void fail(String reason) {
    if (markBroken()) {
      LOG.debug("queue pair {} is broken: {}", number, reason);
      connection.onQueuePairBroken(reason);
    }
  }

  /** As {@link #fail}, told by the connection. */
  boolean markBroken() {
    synchronized (this) {
      if (state != QueuePairState.INIT && state != QueuePairState.READY_TO_SEND) {
        return false;
      }
      brokenAtNs = System.nanoTime();
      state = QueuePairState.ERROR;
    }
    sendCompletions.onBroken(this);
    if (receiveCompletions != sendCompletions) {
      receiveCompletions.onBroken(this);
    }
    return true;
  }

  /** The connection has been made: sends may be posted. */
  synchronized void markReady() {
    if (state == QueuePairState.INIT) {
      state = QueuePairState.READY_TO_SEND;
    }
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
    device.queuePairs().remove(name);
    sendCompletions.release(this);
    receiveCompletions.release(this);
    domain.onClosed(this);
    sendCalls.close();
    receiveCalls.close();
  }

  private synchronized boolean markDestroyed() {
    boolean first = state != QueuePairState.DESTROYED;
    state = QueuePairState.DESTROYED;
    return first;
  }
}
