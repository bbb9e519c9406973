// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.engine.EngineQueuePair;
import org.sparkrdma.verbs.soft.shared.AccessBits;

/**
 * A queue pair: two queues that its owner fills, and their execution by the device thread.
 *
 * <p>The device thread changes the state, except INIT to READY_TO_SEND at accept and DESTROYED at
 * close.
 */
final class SoftQueuePair extends EngineQueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(SoftQueuePair.class);
  private static final long NONE = -1;

  /** Next in the device thread's list of doorbells. */
  SoftQueuePair nextRung;

  /** Whether it waits for a turn; confined to the device thread. */
  boolean active;

  private final SoftContext context;
  private final SoftCompletionQueue sendCompletions;
  private final SoftCompletionQueue receiveCompletions;
  private final WorkQueue sends;
  private final WorkQueue receives;
  private final QueuePairEntry entry;
  private final SendSide sendSide;
  private final ReceiveSide receiveSide;
  private final AtomicBoolean rung = new AtomicBoolean();
  private Runnable onFailure = () -> {};

  /** Held while it is closed: a second close waits for the first. */
  private final Object closing = new Object();

  SoftQueuePair(
      SoftContext context, SoftProtectionDomain domain, int number, QueuePairSettings settings) {
    super(domain, number, settings, SoftDeviceFacts.limits(context.settings()), true);
    this.context = context;
    sendCompletions = (SoftCompletionQueue) settings.sendQueue();
    receiveCompletions = (SoftCompletionQueue) settings.receiveQueue();
    sends = new WorkQueue(settings.sendDepth(), settings.maxSge(), settings.maxInlineBytes());
    receives = new WorkQueue(settings.receiveDepth(), settings.maxSge(), 0);
    entry =
        new QueuePairEntry(
            context.shared().table(), number, domain.id(), AccessBits.of(settings.remoteAccess()));
    var completions =
        new CompletionWriter(this, sendCompletions, receiveCompletions, context.loop());
    sendSide = new SendSide(this, sends, completions, context);
    receiveSide = new ReceiveSide(this, receives, completions, sendSide.answers());
    sendCompletions.retain();
    receiveCompletions.retain();
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
    if (state() == QueuePairState.ERROR) {
      context.loop().ring(this);
    }
    return true;
  }

  @Override
  public void setRemoteAccess(Set<AccessFlag> access) {
    checkRemoteAccess(access);
    entry.setAccess(AccessBits.of(access));
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
        entry.awaitReaders();
        sendCompletions.discard(this);
        if (receiveCompletions != sendCompletions) {
          receiveCompletions.discard(this);
        }
        sendCompletions.release();
        receiveCompletions.release();
        context.shared().queuePairNumbers().release(number());
        leaveDomain();
      }
    }
  }

  // Called by the owner and the device thread.

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

  // Called by the device thread.

  /** Runs once when the queue pair fails or is closed. */
  void setFailureListener(Runnable listener) {
    onFailure = listener;
  }

  /** Allows peers' operations. */
  void publish() {
    entry.publish();
  }

  SendSide sendSide() {
    return sendSide;
  }

  ReceiveSide receiveSide() {
    return receiveSide;
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
      entry.retire();
      flush(send, receive, status);
      onFailure.run();
    }
  }

  private void flush(long send, long receive, WorkStatus status) {
    sendSide.flush(send, status);
    receiveSide.flush(receive, status);
  }

  private void destroy() {
    entry.retire();
    onFailure.run();
    sendSide.drop();
    receiveSide.drop();
  }
}
