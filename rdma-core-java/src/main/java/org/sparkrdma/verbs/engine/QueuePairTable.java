// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * Finds the queue pair of a completion. The upper half of a request number, its name, holds an
 * index in the table and a generation, so that a completion of a queue pair that was destroyed
 * finds none.
 *
 * <p>Any thread adds and removes; the polling thread looks up.
 */
final class QueuePairTable {
  private static final int MAX_QUEUE_PAIRS = 1 << 16;
  private static final int POSITION_BITS = 32;

  /** 15 bits, so that no name is negative. */
  private static final int MAX_GENERATION = 0x7fff;

  private final Deque<Integer> free = new ArrayDeque<>();
  private int[] generations = new int[0];
  private volatile EngineQueuePair[] queuePairs = new EngineQueuePair[0];

  /**
   * Takes an index for a queue pair that will be {@link #put} there.
   *
   * @return the name, at least 0; -1 when there are too many queue pairs
   */
  synchronized int take() {
    if (free.isEmpty() && !grow()) {
      return -1;
    }
    int index = free.remove();
    generations[index] = (generations[index] + 1) & MAX_GENERATION;
    return generations[index] << 16 | index;
  }

  private boolean grow() {
    int before = queuePairs.length;
    if (before == MAX_QUEUE_PAIRS) {
      return false;
    }
    int after = Math.max(16, before * 2);
    generations = Arrays.copyOf(generations, after);
    queuePairs = Arrays.copyOf(queuePairs, after);
    for (int i = before; i < after; i++) {
      free.add(i);
    }
    return true;
  }

  /** Adds a queue pair under the name that was taken for it. */
  synchronized void put(EngineQueuePair queuePair) {
    EngineQueuePair[] changed = queuePairs.clone();
    changed[queuePair.name() & 0xffff] = queuePair;
    queuePairs = changed;
  }

  /** Frees a name, whether or not a queue pair was put under it. */
  synchronized void release(int name) {
    int index = name & 0xffff;
    if (queuePairs[index] != null) {
      EngineQueuePair[] changed = queuePairs.clone();
      changed[index] = null;
      queuePairs = changed;
    }
    free.add(index);
  }

  /** Runs the action with each queue pair. */
  void forEach(Consumer<EngineQueuePair> action) {
    for (EngineQueuePair queuePair : queuePairs) {
      if (queuePair != null) {
        action.accept(queuePair);
      }
    }
  }

  /** The queue pair of a request number; null when it was destroyed. */
  EngineQueuePair find(long requestNumber) {
    int name = (int) (requestNumber >>> POSITION_BITS);
    EngineQueuePair[] all = queuePairs;
    int index = name & 0xffff;
    EngineQueuePair found = index < all.length ? all[index] : null;
    return found != null && found.name() == name ? found : null;
  }
}
