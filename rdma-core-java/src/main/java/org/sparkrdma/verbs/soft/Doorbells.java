// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A list of the queue pairs with new work, which contains each at most once. It is linked through
 * the queue pairs, so that ringing allocates nothing. Any thread rings, the holder of the lock
 * answers.
 */
final class Doorbells {
  private final AtomicReference<SoftQueuePair> last = new AtomicReference<>();

  /** Adds a queue pair; false when it is in the list already. */
  boolean tryRing(SoftQueuePair queuePair) {
    if (!queuePair.tryMarkRung()) {
      return false;
    }
    SoftQueuePair before;
    do {
      before = last.get();
      queuePair.nextRung = before;
    } while (!last.compareAndSet(before, queuePair));
    return true;
  }

  boolean isEmpty() {
    return last.get() == null;
  }

  /** Takes all queue pairs out of the list; returns whether there was one. */
  boolean answer(Consumer<SoftQueuePair> action) {
    SoftQueuePair rung = isEmpty() ? null : last.getAndSet(null);
    boolean any = rung != null;
    while (rung != null) {
      SoftQueuePair next = rung.nextRung;
      rung.nextRung = null;
      rung.clearRung();
      action.accept(rung);
      rung = next;
    }
    return any;
  }
}
