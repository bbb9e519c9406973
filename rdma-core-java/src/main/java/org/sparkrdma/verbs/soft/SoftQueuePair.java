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
package org.sparkrdma.verbs.soft;

import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.soft.shared.AccessBits;
import org.sparkrdma.verbs.soft.wire.FrameHeader;

/**
 * A queue pair: two rings that its owner thread fills, and their execution by the device thread.
 *
 * <p>The state is changed by the device thread, but for INIT to READY_TO_SEND at accept and for the
 * end at close. The shared table has an entry of it from there until it fails or is closed.
 */
final class SoftQueuePair implements QueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(SoftQueuePair.class);
  private static final long NONE = -1;

  // The doorbell list and the device thread's list of those that have work.
  SoftQueuePair nextRung;
  boolean active;

  private final SoftDevice device;
  private final SoftProtectionDomain domain;
  private final int number;
  private final int maxSge;
  private final int maxInlineBytes;
  private final SoftCompletionQueue sendCompletions;
  private final SoftCompletionQueue receiveCompletions;
  private final WorkQueue sends;
  private final WorkQueue receives;
  private final SendSide sendSide;
  private final ReceiveSide receiveSide;
  private final AtomicBoolean rung = new AtomicBoolean();
  private int remoteAccess;
  private volatile QueuePairState state = QueuePairState.INIT;
  private Runnable onFailure = () -> {};
  private boolean overrun;
  private boolean published;

  SoftQueuePair(
      SoftDevice device, SoftProtectionDomain domain, int number, QueuePairSettings settings) {
    this.device = device;
    this.domain = domain;
    this.number = number;
    maxSge = settings.maxSge();
    maxInlineBytes = settings.maxInlineBytes();
    remoteAccess = AccessBits.of(settings.remoteAccess());
    sendCompletions = (SoftCompletionQueue) settings.sendQueue();
    receiveCompletions = (SoftCompletionQueue) settings.receiveQueue();
    sends = new WorkQueue(settings.sendDepth(), maxSge, maxInlineBytes);
    receives = new WorkQueue(settings.receiveDepth(), maxSge, 0);
    sendSide = new SendSide(this, sends, device);
    receiveSide = new ReceiveSide(this, receives, sendSide);
    sendCompletions.retain();
    receiveCompletions.retain();
  }

  // The owner's side.

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairState state() {
    return state;
  }

  @Override
  public boolean postSend(WorkRequest request) {
    if (!offer(request)) {
      return false;
    }
    device.thread().ring(this);
    return true;
  }

  @Override
  public int postSend(WorkRequest[] requests, int offset, int count) {
    Objects.checkFromIndexSize(offset, count, requests.length);
    int posted = 0;
    try {
      while (posted < count && offer(requests[offset + posted])) {
        posted++;
      }
    } finally {
      if (posted > 0) {
        device.thread().ring(this);
      }
    }
    return posted;
  }

  private boolean offer(WorkRequest request) {
    if (state == QueuePairState.INIT || state == QueuePairState.DESTROYED) {
      throw new IllegalStateException("not connected: state=" + state);
    }
    checkSend(request);
    return sends.offer(request);
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
    if (!receives.offer(request)) {
      return false;
    }
    if (state == QueuePairState.ERROR) {
      device.thread().ring(this);
    }
    return true;
  }

  private void checkSend(WorkRequest request) {
    Opcode opcode = request.opcode();
    if (opcode == null || opcode == Opcode.RECEIVE) {
      throw new IllegalArgumentException("not a send, read or write: opcode=" + opcode);
    }
    if (request.isInline() && (opcode == Opcode.READ || request.totalBytes() > maxInlineBytes)) {
      throw new IllegalArgumentException(
          "cannot be inline: opcode="
              + opcode
              + (" lengthBytes=" + request.totalBytes() + " limit=" + maxInlineBytes));
    }
    checkElements(request, maxSge, false);
  }

  private void checkElements(WorkRequest request, int limit, boolean writable) {
    if (request.elementCount() > limit || request.totalBytes() > SoftDevice.MAX_MESSAGE_BYTES) {
      throw new IllegalArgumentException(
          "over the limit: elements="
              + (request.elementCount() + " limit=" + limit)
              + (" lengthBytes=" + request.totalBytes())
              + (" limit=" + SoftDevice.MAX_MESSAGE_BYTES));
    }
    for (int i = 0; i < request.elementCount(); i++) {
      if (!(request.region(i) instanceof SoftRegion region) || region.domain() != domain) {
        throw new IllegalArgumentException("memory of another protection domain: element=" + i);
      }
      if (writable && !region.isLocallyWritable()) {
        throw new IllegalArgumentException("memory without LOCAL_WRITE: element=" + i);
      }
      if (request.isInline() && region.isFile()) {
        throw new IllegalArgumentException("inline data cannot come from a file: element=" + i);
      }
    }
  }

  @Override
  public void setRemoteAccess(Set<AccessFlag> access) throws VerbsException {
    if (access.contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException("not an access of peers: access=LOCAL_WRITE");
    }
    if (state == QueuePairState.DESTROYED) {
      throw new IllegalStateException("queue pair is closed");
    }
    int index = QueuePairNumbers.indexOf(number);
    synchronized (this) {
      remoteAccess = AccessBits.of(access);
      device.table().setQueuePairAccess(index, remoteAccess);
    }
    device.table().awaitQueuePairReaders(index);
  }

  /**
   * The completion of one of its requests is handed over, by the polling thread.
   *
   * @return whether it is to be handed over; false after close
   */
  boolean onPolled(boolean ofSend, long position) {
    (ofSend ? sends : receives).onPolled(position);
    return state != QueuePairState.DESTROYED;
  }

  @Override
  public void close() {
    if (markDestroyed()) {
      device.thread().call(this::destroy);
      device.table().awaitQueuePairReaders(QueuePairNumbers.indexOf(number));
      sendCompletions.discard(this);
      if (receiveCompletions != sendCompletions) {
        receiveCompletions.discard(this);
      }
      sendCompletions.release();
      receiveCompletions.release();
      device.queuePairNumbers().giveBack(number);
      domain.onClosed(this);
    }
  }

  private synchronized boolean markDestroyed() {
    boolean first = state != QueuePairState.DESTROYED;
    state = QueuePairState.DESTROYED;
    return first;
  }

  // Either side.

  /** The connection has been accepted, or its acceptance has come: sends may be posted. */
  synchronized boolean markReady() {
    if (state == QueuePairState.INIT) {
      state = QueuePairState.READY_TO_SEND;
    }
    return state == QueuePairState.READY_TO_SEND;
  }

  private synchronized boolean markFailed() {
    boolean first = state == QueuePairState.INIT || state == QueuePairState.READY_TO_SEND;
    if (first) {
      state = QueuePairState.ERROR;
    }
    return first;
  }

  boolean hasFailed() {
    return state == QueuePairState.ERROR || state == QueuePairState.DESTROYED;
  }

  boolean tryMarkRung() {
    return !rung.get() && rung.compareAndSet(false, true);
  }

  void clearRung() {
    rung.set(false);
  }

  // The device thread's side.

  /** Who hears, once, that it failed or was closed. */
  void setFailureListener(Runnable listener) {
    onFailure = listener;
  }

  /** Lets peers in. */
  synchronized void publish() {
    published = true;
    device
        .table()
        .publishQueuePair(QueuePairNumbers.indexOf(number), number, domain.id(), remoteAccess);
  }

  SendSide sendSide() {
    return sendSide;
  }

  ReceiveSide receiveSide() {
    return receiveSide;
  }

  /** One turn; true when it wants another one. */
  boolean run() {
    try {
      if (state == QueuePairState.ERROR) {
        flush(NONE, NONE, WorkStatus.FLUSH_ERROR);
        return false;
      }
      return state == QueuePairState.READY_TO_SEND && sendSide.run();
    } catch (RuntimeException e) {
      LOG.error("the soft device stumbled: queuePair={}", number, e);
      fail(NONE, NONE, WorkStatus.GENERAL_ERROR);
      return false;
    }
  }

  /** A send failed: everything else is flushed. */
  void fail(long position, WorkStatus status) {
    fail(position, NONE, status);
  }

  /** A receive failed: everything else is flushed. */
  void failReceive(long position, WorkStatus status) {
    fail(NONE, position, status);
  }

  /** The connection ended: everything is flushed. */
  void fail() {
    fail(NONE, NONE, WorkStatus.FLUSH_ERROR);
  }

  /** A fault plan ends the connection. */
  void onFault(String reason) {
    LOG.debug("{}: queuePair={}", reason, number);
    fail();
  }

  private void fail(long send, long receive, WorkStatus status) {
    if (markFailed()) {
      retire();
      flush(send, receive, status);
      onFailure.run();
    }
  }

  private void retire() {
    if (published) {
      published = false;
      device.table().retireQueuePair(QueuePairNumbers.indexOf(number));
    }
  }

  private void flush(long send, long receive, WorkStatus status) {
    sendSide.flush(send, status);
    receiveSide.flush(receive, status);
  }

  private void destroy() {
    retire();
    onFailure.run();
    sendSide.drop();
    receiveSide.drop();
  }

  void completeSend(long position, WorkEntry entry) {
    Completion completion = next(sendCompletions);
    if (completion != null) {
      completion.set(this, true, position, entry.id, WorkStatus.SUCCESS);
      completion.setResult(entry.opcode, entry.totalBytes, false, 0);
      publish(sendCompletions);
    }
  }

  void failSend(long position, WorkEntry entry, WorkStatus status) {
    failWork(sendCompletions, true, position, entry, status);
  }

  void completeReceive(long position, WorkEntry entry, FrameHeader header) {
    Completion completion = next(receiveCompletions);
    if (completion != null) {
      boolean written = header.type == FrameHeader.WRITTEN;
      completion.set(this, false, position, entry.id, WorkStatus.SUCCESS);
      completion.setResult(
          written ? Opcode.RECEIVE_WRITE_WITH_IMMEDIATE : Opcode.RECEIVE,
          header.extent,
          (header.flags & FrameHeader.WITH_IMMEDIATE) != 0,
          header.immediate);
      publish(receiveCompletions);
    }
  }

  void flushReceive(long position, WorkEntry entry, WorkStatus status) {
    failWork(receiveCompletions, false, position, entry, status);
  }

  private void failWork(
      SoftCompletionQueue queue, boolean send, long position, WorkEntry entry, WorkStatus status) {
    Completion completion = next(queue);
    if (completion != null) {
      completion.set(this, send, position, entry.id, status);
      publish(queue);
    }
  }

  private Completion next(SoftCompletionQueue queue) {
    Completion completion = queue.next();
    if (completion == null && !overrun) {
      overrun = true;
      // Not from inside the loop that made the completion.
      device.thread().execute(this::fail);
    }
    return completion;
  }

  private void publish(SoftCompletionQueue queue) {
    if (queue.publish()) {
      device.thread().signalLater(queue);
    }
  }
}
