// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.engine.EngineQueuePair;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.soft.shared.AccessBits;
import org.sparkrdma.verbs.soft.shared.SharedReceives;
import org.sparkrdma.verbs.soft.shared.SharedTable;
import org.sparkrdma.verbs.soft.wire.Link;

/**
 * A queue pair: two queues that its owner fills, and their execution under the lock of the device.
 *
 * <p>The state changes under that lock, except INIT to READY_TO_SEND at accept and DESTROYED at
 * close. Its entry in the shared table, by which peers may access memory, exists from the
 * connection's set-up until it fails or is closed.
 */
final class SoftQueuePair extends EngineQueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(SoftQueuePair.class);
  private static final long NONE = -1;

  /** Next in the device's list of doorbells. */
  SoftQueuePair nextRung;

  /** Whether it waits for a turn; guarded by the lock of the device. */
  boolean active;

  private final SoftContext context;
  private final SoftCompletionQueue sendCompletions;
  private final SoftCompletionQueue receiveCompletions;
  private final WorkQueue sends;
  private final WorkQueue receives;
  private final SharedReceives sharedReceives;
  private final SharedTable table;
  private final int index;
  private final int domainId;
  private final SendSide sendSide;
  private final ReceiveSide receiveSide;
  private final AtomicBoolean rung = new AtomicBoolean();
  private final Object publishing = new Object();
  private Runnable onFailure = () -> {};
  private boolean established;
  private boolean overrun;

  // Guarded by publishing.
  private int access;
  private boolean published;

  /** Held while it is closed: a second close waits for the first. */
  private final Object closing = new Object();

  SoftQueuePair(
      SoftContext context, SoftProtectionDomain domain, int number, QueuePairSettings settings)
      throws IOException, VerbsException {
    super(domain, number, settings, SoftDevice.limits(context.settings()), true);
    this.context = context;
    sendCompletions = (SoftCompletionQueue) settings.sendQueue();
    receiveCompletions = (SoftCompletionQueue) settings.receiveQueue();
    sends = new WorkQueue(settings.sendDepth(), settings.maxSge(), settings.maxInlineBytes());
    receives = new WorkQueue(settings.receiveDepth(), settings.maxSge(), 0);
    sharedReceives =
        SharedReceives.create(
            context.shared().directory().receives(number), receives.size(), settings.maxSge());
    table = context.shared().table();
    index = SharedTable.queuePairIndex(number);
    domainId = domain.id();
    access = AccessBits.of(settings.remoteAccess());
    sendSide = new SendSide(this, sends, context);
    receiveSide = new ReceiveSide(this, receives, sharedReceives);
    sendCompletions.retain();
    receiveCompletions.retain();
    context.loop().add(this, index);
  }

  // Called by the owner.

  @Override
  public boolean postSend(WorkRequest request) {
    checkMaySend();
    checkSend(request);
    if (!sends.offer(request)) {
      return false;
    }
    context.loop().ring(this);
    return true;
  }

  @Override
  protected int postSends(WorkRequest[] requests, int offset, int count) {
    int posted = 0;
    boolean more = true;
    try {
      while (more && posted < count) {
        WorkRequest request = requests[offset + posted];
        checkSend(request);
        more = sends.offer(request);
        posted += more ? 1 : 0;
      }
    } finally {
      if (posted > 0) {
        context.loop().ring(this);
      }
    }
    return posted;
  }

  @Override
  public boolean postReceive(WorkRequest request) {
    checkOpen();
    checkReceive(request);
    if (!receives.offer(request)) {
      return false;
    }
    long position = receives.tail() - 1;
    for (int i = 0; i < request.elementCount(); i++) {
      var region = (EngineRegion) request.region(i);
      sharedReceives.setElement(
          position,
          i,
          region.address() + request.offset(i),
          request.length(i),
          region.remote().remoteKey32());
    }
    sharedReceives.post(position, request.elementCount(), request.totalBytes());
    if (state() == QueuePairState.ERROR) {
      context.loop().ring(this);
    }
    return true;
  }

  /** Returns when no peer uses the access of before any more. */
  @Override
  public void setRemoteAccess(Set<AccessFlag> newAccess) {
    checkRemoteAccess(newAccess);
    synchronized (publishing) {
      access = AccessBits.of(newAccess);
      table.setQueuePairAccess(index, access);
    }
    table.awaitQueuePairReaders(index);
  }

  /**
   * A completion of it is polled.
   *
   * @return whether to show it; false after close
   */
  boolean onPolled(boolean ofSend, long position) {
    (ofSend ? sends : receives).onPolled(position);
    return !isDestroyed();
  }

  @Override
  public void close() {
    synchronized (closing) {
      if (setDestroyed()) {
        context.loop().call(this::destroy);
        table.awaitQueuePairReaders(index);
        sendCompletions.discard(this);
        if (receiveCompletions != sendCompletions) {
          receiveCompletions.discard(this);
        }
        sendCompletions.release();
        receiveCompletions.release();
        context.shared().directory().removeReceives(number());
        context.shared().queuePairNumbers().release(number());
        leaveDomain();
      }
    }
  }

  // Called by the owner, and with the lock.

  /** The connection is accepted: sends may be posted. False when the queue pair is broken. */
  boolean markReady() {
    return setReady();
  }

  boolean hasFailed() {
    return state() == QueuePairState.ERROR || isDestroyed();
  }

  boolean tryMarkRung() {
    return !rung.get() && rung.compareAndSet(false, true);
  }

  void clearRung() {
    rung.set(false);
  }

  // Called with the lock of the device.

  /** Runs once when the queue pair fails or is closed. */
  void setFailureListener(Runnable listener) {
    onFailure = listener;
  }

  /** Allows peers' operations. */
  void publish() {
    synchronized (publishing) {
      published = true;
      table.publishQueuePair(index, number(), domainId, access);
    }
  }

  private void retire() {
    synchronized (publishing) {
      if (published) {
        published = false;
        table.retireQueuePair(index);
      }
    }
  }

  void onEstablished(Link link, SoftEndpoint endpoint, int receiverNotReadyRetries) {
    established = true;
    sendSide.onEstablished(link, endpoint, receiverNotReadyRetries);
    onArrival();
    context.loop().activate(this);
  }

  /** The peer has delivered messages. */
  void onArrival() {
    if (established && state() == QueuePairState.READY_TO_SEND) {
      receiveSide.run();
    }
  }

  /**
   * One turn; true when it needs another one.
   *
   * @param posting whether the caller is posting, and leaves long copies to threads that poll
   */
  boolean run(boolean posting) {
    try {
      if (state() == QueuePairState.ERROR) {
        flush(NONE, NONE, WorkStatus.FLUSH_ERROR);
        return false;
      }
      return state() == QueuePairState.READY_TO_SEND && sendSide.run(posting);
    } catch (RuntimeException e) {
      LOG.error("Unexpected failure in soft device: queuePair={}", number(), e);
      fail(NONE, NONE, WorkStatus.GENERAL_ERROR);
      return false;
    }
  }

  /** A send failed: all other work is flushed. */
  void failSend(long position, WorkStatus status) {
    fail(position, NONE, status);
  }

  /** A receive failed: all other work is flushed. */
  void failReceive(long position, WorkStatus status) {
    fail(NONE, position, status);
  }

  /** The connection ended: all work is flushed. */
  void fail() {
    fail(NONE, NONE, WorkStatus.FLUSH_ERROR);
  }

  private void fail(long send, long receive, WorkStatus status) {
    if (setBroken()) {
      retire();
      flush(send, receive, status);
      onFailure.run();
    }
  }

  private void flush(long send, long receive, WorkStatus status) {
    sendSide.flush(send, status);
    receiveSide.flush(receive, status);
  }

  private void destroy() {
    context.loop().remove(index);
    retire();
    onFailure.run();
    sendSide.drop();
    receiveSide.drop();
  }

  // Completions. An entry is cleared before its completion is published: as soon as the owner polls
  // the completion it may fill the entry again.

  void completeSend(long position, WorkEntry entry) {
    SoftCompletionQueue.Completion completion = next(sendCompletions, true, position);
    if (completion != null) {
      completion.view.setSuccess(entry.id, number(), entry.opcode, entry.totalBytes);
    }
    publish(sendCompletions, completion, entry);
  }

  void completeReceive(long position, WorkEntry entry, SharedReceives from) {
    SoftCompletionQueue.Completion completion = next(receiveCompletions, false, position);
    if (completion != null) {
      int flags = from.flags(position);
      boolean written = (flags & SharedReceives.WRITTEN) != 0;
      completion.view.setSuccess(
          entry.id,
          number(),
          written ? Opcode.RECEIVE_WRITE_WITH_IMMEDIATE : Opcode.RECEIVE,
          from.messageBytes(position));
      if ((flags & SharedReceives.WITH_IMMEDIATE) != 0) {
        completion.view.setImmediate(from.immediate(position));
      }
    }
    publish(receiveCompletions, completion, entry);
  }

  void flushSend(long position, WorkEntry entry, WorkStatus status) {
    flush(sendCompletions, true, position, entry, status);
  }

  void flushReceive(long position, WorkEntry entry, WorkStatus status) {
    flush(receiveCompletions, false, position, entry, status);
  }

  private void flush(
      SoftCompletionQueue queue, boolean send, long position, WorkEntry entry, WorkStatus status) {
    SoftCompletionQueue.Completion completion = next(queue, send, position);
    if (completion != null) {
      completion.view.setFailure(entry.id, number(), status, 0);
    }
    publish(queue, completion, entry);
  }

  /** The next free completion; null when the queue is overrun, which breaks the queue pair. */
  private SoftCompletionQueue.Completion next(
      SoftCompletionQueue queue, boolean send, long position) {
    SoftCompletionQueue.Completion completion = queue.next();
    if (completion != null) {
      completion.set(this, send, position);
    } else if (!overrun) {
      overrun = true;
      // Not from inside the loop that completes work.
      context.loop().execute(this::fail);
    }
    return completion;
  }

  private void publish(
      SoftCompletionQueue queue, SoftCompletionQueue.Completion completion, WorkEntry entry) {
    entry.clear();
    if (completion != null && queue.publish()) {
      context.loop().signalLater(queue);
    }
  }
}
