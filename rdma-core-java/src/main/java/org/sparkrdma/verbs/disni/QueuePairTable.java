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
package org.sparkrdma.verbs.disni;

import java.util.Arrays;

/**
 * Tells which queue pair a completion is of. The upper half of a work request's number names a
 * place in the table and the generation of its use, so that a completion of a queue pair that was
 * destroyed meanwhile finds none.
 *
 * <p>Changed by any thread; looked up by the thread that polls.
 */
final class QueuePairTable {
  private static final int PLACES = 1 << 16;
  private static final int PLACE_MASK = PLACES - 1;
  private static final int GENERATION_SHIFT = 16;

  private short generation;
  private volatile DisniQueuePair[] queuePairs = new DisniQueuePair[16];

  /**
   * Makes a queue pair at a free place.
   *
   * @return null when there are too many
   */
  synchronized DisniQueuePair add(Maker maker) {
    int place = freePlace();
    if (place == PLACES) {
      return null;
    }
    generation++;
    DisniQueuePair made = maker.make((generation << GENERATION_SHIFT) | place);
    DisniQueuePair[] changed =
        Arrays.copyOf(queuePairs, Math.max(queuePairs.length, Integer.highestOneBit(place) * 2));
    changed[place] = made;
    queuePairs = changed;
    return made;
  }

  /** Makes a queue pair that has this name in the upper half of its requests' numbers. */
  @FunctionalInterface
  interface Maker {
    DisniQueuePair make(int name);
  }

  private int freePlace() {
    int place = 0;
    while (place < queuePairs.length && queuePairs[place] != null) {
      place++;
    }
    return place;
  }

  synchronized void remove(int name) {
    DisniQueuePair[] changed = queuePairs.clone();
    changed[name & PLACE_MASK] = null;
    queuePairs = changed;
  }

  /** The queue pair of a request, or null when it is gone. */
  DisniQueuePair find(long requestNumber) {
    int name = (int) (requestNumber >>> Integer.SIZE);
    DisniQueuePair[] all = queuePairs;
    int place = name & PLACE_MASK;
    DisniQueuePair found = place < all.length ? all[place] : null;
    return found != null && found.name() == name ? found : null;
  }
}
