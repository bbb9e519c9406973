// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.Capability;

/**
 * A queue pair: its life, which any thread may change, and the flush of its work once it is broken.
 * {@link QueuePairWork} has what is posted and completes.
 *
 * <pre>
 *  INIT ──► READY_TO_SEND ──► ERROR        each of them ──► DESTROYED
 *    └────────────────────────►
 * </pre>
 *
 * <p>A queue pair that breaks ends its connection; so its close does. Breaking it takes no lock
 * that is held to post. Work that the device has and does not complete within the flush time-out is
 * flushed, too, since not every device completes all of it; a completion that arrives after that is
 * suppressed.
 *
 * <p>The owner posts receives, polls and closes it. Another thread may break it at any time, and
 * may close it once the owner no longer uses it.
 */
public abstract class EngineQueuePair extends QueuePairWork {
  private static final Logger LOG = LoggerFactory.getLogger(EngineQueuePair.class);

  private final Object closing = new Object();
  private volatile long brokenAtNs;

  /** Why a post has broken it, until the thread that polls ends the connection; else null. */
  private volatile String refusal;

  private volatile boolean keepsWork;

  /**
   * @param number as the device calls it
   */
  protected EngineQueuePair(
      EngineProtectionDomain domain,
      EngineConnection connection,
      int number,
      QueuePairSettings settings) {
    super(domain, connection, number, settings);
  }

  /**
   * Not in the constructor: a subclass whose constructor fails is not closed.
   *
   * @return false when the device has too many queue pairs; it must be closed all the same
   */
  final boolean open() {
    domain().retain();
    sendCompletions.retain();
    receiveCompletions.retain();
    tableKey = device().queuePairs().add(this);
    return tableKey >= 0;
  }

  /** Whether its sends or receives complete in that queue. */
  final boolean completesIn(EngineCompletionQueue queue) {
    return sendCompletions == queue || receiveCompletions == queue;
  }

  @Override
  public final void setRemoteAccess(Set<AccessFlag> access) throws VerbsException {
    QueuePairSettings.checkRemoteAccess(access);
    checkOpen();
    if (!device().info().can(Capability.QUEUE_PAIR_ACCESS)) {
      throw new UnsupportedOperationException(
          "the device cannot change access of a connected queue pair: device="
              + device().info().name());
    }
    changeRemoteAccess(access);
  }

  /** Changes the access of peers; only on a device with {@link Capability#QUEUE_PAIR_ACCESS}. */
  protected void changeRemoteAccess(Set<AccessFlag> access) throws VerbsException {}

  /** The connection is established: sends may be posted. */
  protected void markReady() throws VerbsException {
    setReady();
  }

  /** The connection is established; false when the queue pair is broken or destroyed. */
  protected final synchronized boolean setReady() {
    if (state == QueuePairState.INIT) {
      state = QueuePairState.READY_TO_SEND;
    }
    return state == QueuePairState.READY_TO_SEND;
  }

  @Override
  protected final void fail(String reason) {
    if (markBroken()) {
      LOG.debug("Queue pair is broken: queuePair={} reason={}", number(), reason);
      connection.endIfEstablished(reason);
    }
  }

  /**
   * The same for a thread that posts sends, which must not wait for the calls that end the
   * connection: the thread that polls makes them.
   */
  protected final void failPost(String reason) {
    refusal = reason;
    if (markBroken()) {
      LOG.debug("Queue pair is broken: queuePair={} reason={}", number(), reason);
    }
  }

  /**
   * Ends the connection whose queue pair {@link #failPost} has broken. Called by the thread that
   * polls that queue.
   */
  final void endRefused() {
    String reason = refusal;
    if (reason != null) {
      refusal = null;
      connection.endIfEstablished(reason);
      // The device has been told now only that its work ends.
      brokenAtNs = System.nanoTime();
    }
  }

  /** Marks the queue pair as broken, without ending the connection: false when it already was. */
  protected final boolean markBroken() {
    synchronized (this) {
      if (state != QueuePairState.INIT && state != QueuePairState.READY_TO_SEND) {
        return false;
      }
      brokenAtNs = System.nanoTime();
      state = QueuePairState.ERROR;
    }
    onStateChanged();
    return true;
  }

  /** A second close waits for the end of the first. */
  @Override
  public final void close() {
    synchronized (closing) {
      if (setDestroyed()) {
        // Its work is not flushed any more, even where the device destroys it later.
        onStateChanged();
        try {
          onDestroyed();
        } finally {
          connection.onQueuePairClosed(this::release);
        }
      }
    }
  }

  /** Waits for a thread that posts; afterwards none does. */
  private boolean setDestroyed() {
    synchronized (posting) {
      synchronized (this) {
        boolean first = state != QueuePairState.DESTROYED;
        state = QueuePairState.DESTROYED;
        return first;
      }
    }
  }

  /** Called once at close, while the device still has the queue pair. */
  protected void onDestroyed() {}

  /** The device has destroyed it, or failed to: what it uses may be used again. */
  private void release() {
    if (tableKey >= 0) {
      device().queuePairs().remove(tableKey);
    }
    sendCompletions.release();
    receiveCompletions.release();
    try {
      free();
    } finally {
      domain().release();
    }
  }

  /** Frees its native memory; called once at close, when the device has destroyed it. */
  protected abstract void free();

  /** It is broken, or closed. */
  private void onStateChanged() {
    sendCompletions.onStateChanged(this);
    if (receiveCompletions != sendCompletions) {
      receiveCompletions.onStateChanged(this);
    }
  }

  // The flush, by the thread that polls.

  /**
   * Flushes the oldest work of a broken queue pair that the device never got, or has had for longer
   * than the flush time-out. Called by the thread that polls that queue.
   *
   * @return whether there was any; the view shows it then
   */
  final boolean flushOne(EngineCompletionQueue queue, long nowNs, CompletionView view) {
    if (sendCompletions == queue && flushOne(sends, nowNs, view)) {
      return true;
    }
    return receiveCompletions == queue && flushOne(receives, nowNs, view);
  }

  /** {@code flushOne} for a single ring. */
  private boolean flushOne(WorkRing ring, long nowNs, CompletionView view) {
    if (ring.isEmpty()) {
      return false;
    }
    synchronized (posting) {
      if (state() != QueuePairState.ERROR
          || ring.isEmpty()
          || (ring.isWithDevice() && (keepsWork || nowNs - flushAtNs() < 0))) {
        return false;
      }
      showFlushed(ring, view);
      return true;
    }
  }

  private long flushAtNs() {
    return brokenAtNs + device().flushTimeoutNs();
  }

  /**
   * Time at which work that the device has and that completes in this queue will be flushed;
   * Long.MAX_VALUE when there is none.
   */
  final long flushDeadlineNs(EngineCompletionQueue queue) {
    boolean hasWork =
        (sendCompletions == queue && !sends.isEmpty())
            || (receiveCompletions == queue && !receives.isEmpty());
    return hasWork && !keepsWork ? flushAtNs() : Long.MAX_VALUE;
  }

  /**
   * While the device keeps the memory of its work, only its completions and the destruction of the
   * queue pair free it; else the flush time-out does, too.
   */
  protected final void setKeepsWork(boolean keeps) {
    keepsWork = keeps;
    if (!keeps) {
      sendCompletions.signal();
      receiveCompletions.signal();
    }
  }
}
