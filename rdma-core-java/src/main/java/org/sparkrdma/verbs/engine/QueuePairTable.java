/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.engine;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * Tells which queue pair a completion is of. The upper half of a work request's number names a
 * place in the table and the generation of its use, so that a completion of a queue pair that was
 * destroyed meanwhile finds none.
 *
 * <p>Changed by any thread; looked up by the thread that polls, which owns what it looks for.
 */
public final class QueuePairTable<Q extends EngineQueuePair> {
  private static final int MAX_QUEUE_PAIRS = 1 << 16;
  private static final int POSITION_BITS = 32;

  private final Deque<Integer> free = new ArrayDeque<>();
  private int[] generations = new int[0];
  private volatile EngineQueuePair[] queuePairs = new EngineQueuePair[0];

  /**
   * A place for a queue pair that will be {@link #put} there.
   *
   * @return the upper half of its requests' numbers; -1 when there are too many
   */
  public synchronized int take() {
    if (free.isEmpty() && !grow()) {
      return -1;
    }
    int place = free.remove();
    generations[place]++;
    return generations[place] << 16 | place;
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

  /** Puts it at the place that was taken for it. */
  public synchronized void put(Q queuePair) {
    EngineQueuePair[] changed = queuePairs.clone();
    changed[queuePair.name() & 0xffff] = queuePair;
    queuePairs = changed;
  }

  /** It is gone, and its place free. */
  public void remove(Q queuePair) {
    giveBack(queuePair.name());
  }

  /** The place that was taken is free again, whether or not a queue pair was put there. */
  public synchronized void giveBack(int name) {
    int place = name & 0xffff;
    EngineQueuePair[] changed = queuePairs.clone();
    changed[place] = null;
    queuePairs = changed;
    free.add(place);
  }

  /** With each that is there. */
  public void forEach(Consumer<? super Q> action) {
    for (EngineQueuePair queuePair : queuePairs) {
      if (queuePair != null) {
        action.accept(mine(queuePair));
      }
    }
  }

  /** The queue pair of a request, or null when it is gone. */
  public Q find(long requestNumber) {
    int name = (int) (requestNumber >>> POSITION_BITS);
    EngineQueuePair[] all = queuePairs;
    int place = name & 0xffff;
    EngineQueuePair found = place < all.length ? all[place] : null;
    return found != null && found.name() == name ? mine(found) : null;
  }

  @SuppressWarnings("unchecked")
  private Q mine(EngineQueuePair queuePair) {
    return (Q) queuePair;
  }
}
