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

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;

/**
 * The broken queue pairs that complete in one queue: what they still hold is flushed behind what
 * the device gives back. Changed by any thread; flushed by the one that polls.
 */
public final class BrokenQueuePairs {
  private static final EngineQueuePair[] NONE = {};

  private final CompletionQueue queue;
  private volatile EngineQueuePair[] broken = NONE;

  /** Those of that queue. */
  public BrokenQueuePairs(CompletionQueue queue) {
    this.queue = queue;
  }

  /** That one broke. */
  public synchronized void add(EngineQueuePair queuePair) {
    var all = new ArrayList<>(List.of(broken));
    all.add(queuePair);
    broken = all.toArray(NONE);
  }

  /** That one was closed, broken or not. */
  public synchronized void remove(EngineQueuePair queuePair) {
    var all = new ArrayList<>(List.of(broken));
    all.remove(queuePair);
    broken = all.toArray(NONE);
  }

  /** Whether there is none. */
  public boolean isEmpty() {
    return broken.length == 0;
  }

  /** Hands over up to so many of their works; returns how many. */
  public int flush(int limit, CompletionView view, CompletionHandler handler) {
    long now = System.nanoTime();
    int handled = 0;
    for (EngineQueuePair queuePair : broken) {
      while (handled < limit && queuePair.flushOne(queue, now, view)) {
        handled++;
        view.hand(handler);
      }
    }
    return handled;
  }

  /** When the next work is to be flushed; Long.MAX_VALUE when there is none. */
  public long deadlineNs() {
    long least = Long.MAX_VALUE;
    for (EngineQueuePair queuePair : broken) {
      long at = queuePair.flushDeadlineNs();
      if (at != Long.MAX_VALUE && (least == Long.MAX_VALUE || at - least < 0)) {
        least = at;
      }
    }
    return least;
  }
}
