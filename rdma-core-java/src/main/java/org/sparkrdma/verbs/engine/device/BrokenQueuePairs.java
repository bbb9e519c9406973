// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.engine.CompletionView;

/**
 * The broken queue pairs that complete in one queue. Their work is flushed after what the device
 * completes. Any thread adds and removes; the polling thread flushes.
 */
public final class BrokenQueuePairs {
  private static final DeviceQueuePair[] NONE = {};

  private final CompletionQueue queue;
  private volatile DeviceQueuePair[] broken = NONE;

  /** The broken queue pairs of that queue. */
  public BrokenQueuePairs(CompletionQueue queue) {
    this.queue = queue;
  }

  /** A queue pair broke. One that was closed in the meantime is not added. */
  public synchronized void add(DeviceQueuePair queuePair) {
    if (queuePair.state() == QueuePairState.DESTROYED) {
      return;
    }
    var all = new ArrayList<>(List.of(broken));
    all.add(queuePair);
    broken = all.toArray(NONE);
  }

  /** A queue pair was closed, broken or not. */
  public synchronized void remove(DeviceQueuePair queuePair) {
    var all = new ArrayList<>(List.of(broken));
    all.remove(queuePair);
    broken = all.toArray(NONE);
  }

  /** Whether no queue pair is broken. */
  public boolean isEmpty() {
    return broken.length == 0;
  }

  /**
   * Flushes at most {@code limit} pieces of work to the handler; returns how many.
   *
   * @param nowNs as of System.nanoTime
   */
  public int flush(int limit, long nowNs, CompletionView view, CompletionHandler handler) {
    int handled = 0;
    for (DeviceQueuePair queuePair : broken) {
      while (handled < limit && queuePair.flushOne(queue, nowNs, view)) {
        handled++;
        view.hand(handler);
      }
    }
    return handled;
  }

  /** Time at which the next work must be flushed; Long.MAX_VALUE when there is none. */
  public long deadlineNs() {
    long least = Long.MAX_VALUE;
    for (DeviceQueuePair queuePair : broken) {
      long at = queuePair.flushDeadlineNs(queue);
      if (at != Long.MAX_VALUE && (least == Long.MAX_VALUE || at - least < 0)) {
        least = at;
      }
    }
    return least;
  }
}
