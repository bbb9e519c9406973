// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shuffles that Spark has removed, on their way to the transport, which deregisters their
 * files. A hand-over that has failed for lack of memory is repeated at the next removal and each
 * second.
 *
 * <p>At most {@value #MAX_WAITING} shuffles wait for that, in memory of the start. The windows of a
 * further one are deregistered after the idle time-out. Safe for any thread.
 */
final class ShuffleRemovals {
  static final int MAX_WAITING = 256;

  private static final Logger LOG = LoggerFactory.getLogger(ShuffleRemovals.class);

  private final IntConsumer transport;
  private final int[] waiting = new int[MAX_WAITING];
  private int count;

  /**
   * @param transport deregisters the files of a shuffle; may throw any Error
   */
  ShuffleRemovals(IntConsumer transport) {
    this.transport = transport;
  }

  /** Spark has removed a shuffle. Never throws: Spark's part of the removal has succeeded. */
  synchronized void remove(int shuffleId) {
    retry();
    if (!tryHandOver(shuffleId) && count < MAX_WAITING) {
      waiting[count++] = shuffleId;
    }
  }

  /** Hands over what waits. Never throws. */
  synchronized void retry() {
    while (count > 0 && tryHandOver(waiting[count - 1])) {
      count--;
    }
  }

  private boolean tryHandOver(int shuffleId) {
    try {
      transport.accept(shuffleId);
      return true;
    } catch (Throwable e) {
      logFailure(shuffleId, e);
      return false;
    }
  }

  private static void logFailure(int shuffleId, Throwable failure) {
    try {
      LOG.debug("Files of a shuffle stay registered for now: shuffle={}", shuffleId, failure);
    } catch (Throwable e) {
      // The hand-over is repeated without the line.
    }
  }
}
