// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsException;

/**
 * The life of an {@link EngineQueuePair}, which any thread may change.
 *
 * <pre>
 *  INIT ──► READY_TO_SEND ──► ERROR        each of them ──► DESTROYED
 *    └────────────────────────►
 * </pre>
 *
 * <p>A queue pair that breaks ends its connection; so its close does. Breaking it takes no lock
 * that is held to post.
 */
abstract class QueuePairLife implements QueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(QueuePairLife.class);

  /** Held to post sends, to flush, and to enter {@link QueuePairState#DESTROYED}. */
  final Object posting = new Object();

  private final Object closing = new Object();
  private final EngineConnection connection;
  private final int number;
  private volatile QueuePairState state = QueuePairState.INIT;
  private volatile long brokenAtNs;

  /** Why a post has broken it, until the thread that polls ends the connection; else null. */
  private volatile String refusal;

  /**
   * @param number as the device calls it
   */
  QueuePairLife(EngineConnection connection, int number) {
    this.connection = connection;
    this.number = number;
  }

  @Override
  public final int number() {
    return number;
  }

  /** What its owner has attached to the connection. */
  final Object attachment() {
    return connection.attachment();
  }

  @Override
  public final QueuePairState state() {
    return state;
  }

  /** Time at which it broke. */
  final long brokenAtNs() {
    return brokenAtNs;
  }

  /** It is broken, or closed. */
  abstract void onStateChanged();

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

  /** Marks the queue pair, whose device does no more work, as broken and ends the connection. */
  protected final void fail(String reason) {
    if (markBroken()) {
      LOG.debug("Queue pair is broken: queuePair={} reason={}", number, reason);
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
      LOG.debug("Queue pair is broken: queuePair={} reason={}", number, reason);
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
  abstract void release();
}
