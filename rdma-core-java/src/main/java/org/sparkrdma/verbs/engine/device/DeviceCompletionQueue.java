// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import java.util.function.LongSupplier;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.engine.CompletionView;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.engine.EngineCompletionQueue;
import org.sparkrdma.verbs.engine.EngineDevice;
import org.sparkrdma.verbs.engine.device.DeviceQueuePair.Outcome;

/**
 * A completion queue of a real device, with the flushed work of broken queue pairs after the
 * device's own completions, see {@link BrokenQueuePairs}. Polled by its one owner thread; queue
 * pairs report from any thread that they broke.
 */
public abstract class DeviceCompletionQueue extends EngineCompletionQueue {
  /** Maximum number of completions taken from the device with one call. */
  protected static final int BATCH = 32;

  private final EngineChannel channel;
  private final LongSupplier clock;
  private final CompletionView view = new CompletionView();
  private final BrokenQueuePairs broken = new BrokenQueuePairs(this);
  private final LongSupplier deadline = broken::deadlineNs;
  private volatile boolean overrun;

  // Indexes of the completions taken from the device and not shown yet; polling thread.
  private int next;
  private int end;

  protected DeviceCompletionQueue(EngineDevice<?> device, int capacity, EngineChannel channel) {
    this(device, capacity, channel, System::nanoTime);
  }

  /**
   * @param clock time in nanoseconds, as of System.nanoTime
   */
  DeviceCompletionQueue(
      EngineDevice<?> device, int capacity, EngineChannel channel, LongSupplier clock) {
    super(device, capacity, channel);
    this.channel = channel;
    this.clock = clock;
    if (channel != null) {
      channel.addDeadline(deadline);
    }
  }

  @Override
  public final int poll(int limit, CompletionHandler handler) {
    checkOpen();
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
    if (!broken.isEmpty() && handled < limit && !overrun) {
      handled += broken.flush(limit - handled, clock.getAsLong(), view, handler);
    }
    if (handled == 0 && overrun) {
      throw overrunException();
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
    Outcome outcome = show(next, view);
    if (outcome != Outcome.EARLIER_FLUSHED) {
      next++;
    }
    return outcome != Outcome.SUPPRESSED;
  }

  /** Shows one of those taken in the view. */
  protected abstract Outcome show(int index, CompletionView view);

  /** The device reports that it lost completions: polling fails from now on. */
  protected final void markOverrun() {
    overrun = true;
    signal();
  }

  protected final boolean isOverrun() {
    return overrun;
  }

  /** A queue pair broke: the polling thread flushes its work. */
  final void onBroken(DeviceQueuePair queuePair) {
    broken.add(queuePair);
    signal();
  }

  /** A queue pair is closed; its completions are not shown any more. */
  final void onClosing(DeviceQueuePair queuePair) {
    broken.remove(queuePair);
  }

  /** The device has destroyed a queue pair. */
  final void onDestroyed(DeviceQueuePair queuePair) {
    broken.remove(queuePair);
    release();
  }

  @Override
  protected void destroy() {
    if (channel != null) {
      channel.removeDeadline(deadline);
    }
  }
}
