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

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.QueuePair;

/**
 * The regions and queue pairs of a protection domain, which cannot be closed while it has any. Safe
 * for any thread; what is added and what closes it takes the domain's lock.
 */
public final class DomainMembers<R extends MemoryRegion, Q extends QueuePair> {
  private final Set<R> regions = ConcurrentHashMap.newKeySet();
  private final Set<Q> queuePairs = ConcurrentHashMap.newKeySet();
  private boolean closed;

  /** Whether the domain was closed. */
  public boolean isClosed() {
    return closed;
  }

  /**
   * @throws IllegalStateException when the domain was closed
   */
  public void checkOpen() {
    if (closed) {
      throw new IllegalStateException("protection domain is closed");
    }
  }

  /** A region of it, from now on. */
  public void add(R region) {
    checkOpen();
    regions.add(region);
  }

  /** A queue pair of it, from now on. */
  public void add(Q queuePair) {
    checkOpen();
    queuePairs.add(queuePair);
  }

  /** That region was closed. */
  public void remove(R region) {
    regions.remove(region);
  }

  /** That queue pair was closed. */
  public void remove(Q queuePair) {
    queuePairs.remove(queuePair);
  }

  /** Regions that are open. */
  public int regionCount() {
    return regions.size();
  }

  /** Queue pairs that are open. */
  public int queuePairCount() {
    return queuePairs.size();
  }

  /** Closes the members, in verbs order; not the domain. */
  public void closeAll() {
    queuePairs.forEach(QueuePair::close);
    regions.forEach(MemoryRegion::close);
  }

  /**
   * The domain is closed from now on; false when it was.
   *
   * @throws IllegalStateException while there are members
   */
  public boolean markClosed() {
    if (closed) {
      return false;
    }
    if (!regions.isEmpty() || !queuePairs.isEmpty()) {
      throw new IllegalStateException(
          "protection domain is in use: regions="
              + regions.size()
              + (" queuePairs=" + queuePairs.size()));
    }
    closed = true;
    return true;
  }
}
