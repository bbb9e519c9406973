// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.concurrent.atomic.AtomicInteger;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.QueuePairSettings;

/**
 * A completion queue of a device, counting the queue pairs that complete in it: it cannot be closed
 * while there is one. Its one owner thread polls; counting and closing are safe for any thread.
 */
public abstract class EngineCompletionQueue implements CompletionQueue {
  private final EngineDevice<?> device;
  private final int capacity;
  private final EngineChannel channel;
  private final AtomicInteger queuePairs = new AtomicInteger();
  private volatile boolean closed;

  /**
   * @param channel woken when a completion arrives after {@link #arm}; null when it is only polled
   */
  protected EngineCompletionQueue(EngineDevice<?> device, int capacity, EngineChannel channel) {
    this.device = device;
    this.capacity = capacity;
    this.channel = channel;
  }

  final boolean isOf(EngineDevice<?> other) {
    return device == other;
  }

  /**
   * Checks that queue pairs of that device can complete in the queues of the settings.
   *
   * @throws IllegalArgumentException when a queue is of another device
   * @throws IllegalStateException when a queue is closed
   */
  static void checkQueues(QueuePairSettings settings, EngineDevice<?> device) {
    check(settings.sendQueue(), device);
    check(settings.receiveQueue(), device);
  }

  private static void check(CompletionQueue queue, EngineDevice<?> device) {
    if (!(queue instanceof EngineCompletionQueue own) || !own.isOf(device)) {
      throw new IllegalArgumentException("completion queue of another device");
    }
    own.checkOpen();
  }

  @Override
  public final int capacity() {
    return capacity;
  }

  /**
   * @throws IllegalStateException after close
   */
  protected final void checkOpen() {
    if (closed) {
      throw new IllegalStateException("completion queue is closed");
    }
  }

  protected final IllegalStateException overrunException() {
    return new IllegalStateException("completion queue was overrun: capacity=" + capacity);
  }

  @Override
  public final void arm() {
    checkOpen();
    if (channel == null) {
      throw new IllegalStateException("completion queue has no channel");
    }
    requestNotification();
  }

  /** Has the channel woken once when the next completion arrives. */
  protected abstract void requestNotification();

  /** Wakes the owner, where there is a channel to wait on. */
  public final void signal() {
    if (channel != null) {
      channel.wakeup();
    }
  }

  /** A queue pair completes in it, until it {@link #release}s it. */
  public final void retain() {
    queuePairs.incrementAndGet();
  }

  public final void release() {
    queuePairs.decrementAndGet();
  }

  /** Keeps the lock while it destroys, so that a second close waits for the end of the first. */
  @Override
  public final synchronized void close() {
    if (closed) {
      return;
    }
    if (queuePairs.get() > 0) {
      throw new IllegalStateException("queue pairs complete in it: queuePairs=" + queuePairs.get());
    }
    closed = true;
    try {
      destroy();
    } finally {
      device.onClosed(this);
    }
  }

  /** Releases its resources; called once, when no queue pair completes in it. */
  protected void destroy() {}
}
