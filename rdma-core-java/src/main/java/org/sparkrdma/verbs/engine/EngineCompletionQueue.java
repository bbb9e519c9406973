// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.QueuePairState;

/**
 * A completion queue: the completions of the device, behind them the flushed work of broken queue
 * pairs. The queue pairs that complete in it are its users. Its one owner thread polls; queue pairs
 * report from any thread that they broke.
 */
public abstract class EngineCompletionQueue extends EngineObject implements CompletionQueue {
  /** Maximum number of completions taken from the device with one call. */
  protected static final int BATCH = 32;

  private static final EngineQueuePair[] NONE = {};

  private final int capacity;
  private final EngineChannel channel;
  private final LongSupplier clock;
  private final CompletionView view = new CompletionView();
  private final LongSupplier deadline = this::flushDeadlineNs;

  private volatile EngineQueuePair[] broken = NONE;

  private volatile boolean overrun;

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
    super(device, "completion queue");
    this.capacity = capacity;
    this.channel = channel;
    this.clock = clock;
  }

  /** Not in the constructor: a subclass whose constructor fails is not closed. */
  final EngineCompletionQueue open() {
    if (channel != null) {
      channel.addDeadline(deadline);
    }
    return this;
  }

  /**
   * Checks that queue pairs of that device can complete in the queue.
   *
   * @throws IllegalArgumentException when it is of another device
   * @throws IllegalStateException when it is closed
   */
  static void check(CompletionQueue queue, EngineDevice device) {
    if (!(queue instanceof EngineCompletionQueue own) || own.device() != device) {
      throw new IllegalArgumentException("completion queue of another device");
    }
    own.checkOpen();
  }

  @Override
  public final int capacity() {
    return capacity;
  }

  // Called by the owner.

  @Override
  public final int poll(int limit, CompletionHandler handler) {
    checkOpen();
    // Read first: the device's completions of a queue pair that is broken now are all there.
    EngineQueuePair[] toFlush = broken;
    for (EngineQueuePair queuePair : toFlush) {
      queuePair.endRefused();
    }
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
    read(next, view);
    EngineQueuePair queuePair = device().queuePairs().find(view.requestNumber());
    QueuePairWork.Outcome outcome =
        queuePair == null ? QueuePairWork.Outcome.SUPPRESSED : queuePair.show(view);
    if (outcome != QueuePairWork.Outcome.EARLIER_FLUSHED) {
      next++;
    }
    return outcome != QueuePairWork.Outcome.SUPPRESSED;
  }

  /** Reads one of those taken; perhaps several times. */
  protected abstract void read(int index, CompletionView into);

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
    for (EngineQueuePair queuePair : device().queuePairs().all()) {
      if (queuePair.completesIn(this)) {
        queuePair.fail(reason);
      }
    }
  }

  protected final boolean isOverrun() {
    return overrun;
  }

  /** A queue pair was broken, whose work the polling thread flushes, or closed. */
  final void onStateChanged(EngineQueuePair queuePair) {
    synchronized (this) {
      var all = new ArrayList<>(List.of(broken));
      all.remove(queuePair);
      if (queuePair.state() == QueuePairState.ERROR) {
        all.add(queuePair);
      }
      broken = all.toArray(NONE);
    }
    signal();
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

  @Override
  protected final void destroy() {
    if (channel != null) {
      channel.removeDeadline(deadline);
    }
    destroyQueue();
  }

  /** Destroys the queue of the device; called once, when no queue pair completes in it. */
  protected void destroyQueue() {}
}
