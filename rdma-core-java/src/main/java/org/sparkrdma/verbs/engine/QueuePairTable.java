// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Finds the queue pair of a completion. The upper half of a request number, its key, holds an index
 * in the table and a generation, so that a completion of a queue pair that was destroyed finds
 * none.
 *
 * <p>Any thread adds and removes; the polling thread looks up.
 */
final class QueuePairTable {
  private static final int MAX_QUEUE_PAIRS = 1 << 16;

  /** 15 bits, so that no key is negative. */
  private static final int MAX_GENERATION = 0x7fff;

  private volatile EngineQueuePair[] queuePairs = new EngineQueuePair[0];
  private int generation;

  /**
   * Adds a queue pair, until it is removed.
   *
   * @return its key, at least 0; -1 when there are too many queue pairs
   */
  synchronized int add(EngineQueuePair queuePair) {
    EngineQueuePair[] all = queuePairs;
    int index = 0;
    while (index < all.length && all[index] != null) {
      index++;
    }
    if (index == MAX_QUEUE_PAIRS) {
      return -1;
    }
    generation = (generation + 1) & MAX_GENERATION;
    int length = index < all.length ? all.length : Math.max(16, all.length * 2);
    put(Arrays.copyOf(all, length), index, queuePair);
    return generation << 16 | index;
  }

  synchronized void remove(int key) {
    put(queuePairs.clone(), key & 0xffff, null);
  }

  private void put(EngineQueuePair[] changed, int index, EngineQueuePair queuePair) {
    changed[index] = queuePair;
    queuePairs = changed;
  }

  List<EngineQueuePair> all() {
    return Arrays.stream(queuePairs).filter(Objects::nonNull).toList();
  }

  /** The queue pair of a request number; null when it was destroyed. */
  EngineQueuePair find(long requestNumber) {
    int key = (int) (requestNumber >>> Integer.SIZE);
    EngineQueuePair[] all = queuePairs;
    int index = key & 0xffff;
    EngineQueuePair found = index < all.length ? all[index] : null;
    return found != null && found.tableKey() == key ? found : null;
  }
}
