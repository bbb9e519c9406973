// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkStatus;

/**
 * A completion queue: the completions of the device, behind them the flushed work of broken queue
 * pairs. Counts the queue pairs that complete in it: it cannot be closed while there is one. Its
 * one owner thread polls; queue pairs report from any thread that they broke, counting and closing
 * are safe for any thread.
 */
public abstract class EngineCompletionQueue implements CompletionQueue {
  /** Maximum number of completions taken from the device with one call. */
  protected static final int BATCH = 32;

  private static final EngineQueuePair[] NONE = {};

  private final EngineDevice device;
  private final int capacity;
  private final EngineChannel channel;
  private final LongSupplier clock;
  private final CompletionView view = new CompletionView();
  private final LongSupplier deadline = this::flushDeadlineNs;
  private final AtomicInteger queuePairs = new AtomicInteger();
  private volatile EngineQueuePair[] broken = NONE;
  private volatile boolean overrun;
  private volatile boolean closed;

  // Indexes of the completions taken from the device and not shown yet; polling thread.
  private int next;
  private int end;

  /**
   * @param channel woken when a completion arrives after {@link #arm}; null when it is only polled
   */
  protected EngineCompletionQueue(EngineDevice device, int capacity, EngineChannel channel) {
    this(device, capacity, channel, System::nanoTime);
  }

  /**
   * @param clock time in nanoseconds, as of System.nanoTime
   */
  EngineCompletionQueue(
      EngineDevice device, int capacity, EngineChannel channel, LongSupplier clock) {
    this.device = device;
    this.capacity = capacity;
    this.channel = channel;
    this.clock = clock;
    if (channel != null) {
      channel.addDeadline(deadline);
    }
  }

  /**
   * Checks that queue pairs of that device can complete in the queues of the settings.
   *
   * @throws IllegalArgumentException when a queue is of another device
   * @throws IllegalStateException when a queue is closed
   */
  static void checkQueues(QueuePairSettings settings, EngineDevice device) {
    check(settings.sendQueue(), device);
    check(settings.receiveQueue(), device);
  }

  private static void check(CompletionQueue queue, EngineDevice device) {
    if (!(queue instanceof EngineCompletionQueue own) || own.device != device) {
      throw new IllegalArgumentException("completion queue of another device");
    }
    own.checkOpen();
  }

  @Override
  public final int capacity() {
    return capacity;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("completion queue is closed");
    }
  }

  // Called by the owner.

  @Override
  public final int poll(int limit, CompletionHandler handler) {
    checkOpen();
    // Read first: the device's completions of a queue pair that is broken now are all there.
    EngineQueuePair[] toFlush = broken;
    int handled = 0;
    boolean more = true;
    while (handled < limit && more) {
      if (next == end) {
        int count = Math.min(BATCH, limit - handled);
        next = 0;
        end = 0;
        end = take(count);
        more = end >= count;
      }
      while (next < end && handled < limit) {
        if (showNext()) {
          handled++;
          view.hand(handler);
        }
      }
    }
    if (toFlush.length > 0 && handled < limit && !overrun) {
      handled += flush(toFlush, limit - handled, handler);
    }
    if (handled == 0 && overrun) {
      throw new IllegalStateException("completion queue was overrun: capacity=" + capacity);
    }
    return handled;
  }

  /**
   * Takes completions from the device.
   *
   * @param count how many are wanted; an engine may take up to {@link #BATCH}
   * @return how many there were
   */
  protected abstract int take(int count);

  /** Shows the next of those taken; false when it is suppressed. */
  private boolean showNext() {
    EngineQueuePair.Outcome outcome = show(next);
    if (outcome != EngineQueuePair.Outcome.EARLIER_FLUSHED) {
      next++;
    }
    return outcome != EngineQueuePair.Outcome.SUPPRESSED;
  }

  /** Shows one of those taken, by the other method of this name. */
  protected abstract EngineQueuePair.Outcome show(int index);

  /**
   * Shows a completion of the device; the parameters after the error are those of receives.
   *
   * @param ofWrite whether a WRITE consumed the receive
   */
  protected final EngineQueuePair.Outcome show(
      long requestNumber,
      WorkStatus status,
      int vendorError,
      boolean ofWrite,
      long lengthBytes,
      boolean hasImmediate,
      int immediate) {
    EngineQueuePair queuePair = device.queuePairs().find(requestNumber);
    return queuePair == null
        ? EngineQueuePair.Outcome.SUPPRESSED
        : queuePair.show(
            (int) requestNumber,
            status,
            vendorError,
            ofWrite,
            lengthBytes,
            hasImmediate,
            immediate,
            view);
  }

  private int flush(EngineQueuePair[] toFlush, int limit, CompletionHandler handler) {
    long nowNs = clock.getAsLong();
    int handled = 0;
    for (EngineQueuePair queuePair : toFlush) {
      while (handled < limit && queuePair.flushOne(this, nowNs, view)) {
        handled++;
        view.hand(handler);
      }
    }
    return handled;
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

  // Called by the engine, on any thread.

  /** Wakes the owner, where there is a channel to wait on. */
  protected final void signal() {
    if (channel != null) {
      channel.wakeup();
    }
  }

  /** The device has lost completions: polling fails from now on. */
  protected final void markOverrun() {
    overrun = true;
    signal();
  }

  /** The device reports that it has lost completions, which breaks the queue pairs. */
  protected final void onOverrun(String reason) {
    markOverrun();
    device
        .queuePairs()
        .forEach(
            queuePair -> {
              if (queuePair.completesIn(this)) {
                queuePair.fail(reason);
              }
            });
  }

  protected final boolean isOverrun() {
    return overrun;
  }

  /** A queue pair completes in it, until it {@link #release}s it. */
  final void retain() {
    queuePairs.incrementAndGet();
  }

  /** The device has destroyed a queue pair. */
  final void release(EngineQueuePair queuePair) {
    onClosing(queuePair);
    queuePairs.decrementAndGet();
  }

  /** A queue pair broke: the polling thread flushes its work. */
  final void onBroken(EngineQueuePair queuePair) {
    synchronized (queuePairs) {
      // Not one that was closed in the meantime.
      if (queuePair.state() == QueuePairState.ERROR) {
        var all = new ArrayList<>(List.of(broken));
        all.add(queuePair);
        broken = all.toArray(NONE);
      }
    }
    signal();
  }

  /** A queue pair is closed; its completions are not shown any more. */
  final void onClosing(EngineQueuePair queuePair) {
    synchronized (queuePairs) {
      var all = new ArrayList<>(List.of(broken));
      all.remove(queuePair);
      broken = all.toArray(NONE);
    }
  }

  /** Time at which the next work must be flushed; Long.MAX_VALUE when there is none. */
  private long flushDeadlineNs() {
    long least = Long.MAX_VALUE;
    for (EngineQueuePair queuePair : broken) {
      long at = queuePair.flushDeadlineNs(this);
      if (at != Long.MAX_VALUE && (least == Long.MAX_VALUE || at - least < 0)) {
        least = at;
      }
    }
    return least;
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
    if (channel != null) {
      channel.removeDeadline(deadline);
    }
    try {
      destroy();
    } finally {
      device.onClosed(this);
    }
  }

  /** Releases its resources; called once, when no queue pair completes in it. */
  protected void destroy() {}
}
