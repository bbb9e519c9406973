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
package org.sparkrdma.shuffle.fetch;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Map outputs whose recorded checksums are known to be wrong; the oldest are forgotten first. Safe
 * for any thread.
 */
final class UnusableSums {
  private static final int MOST = 10_000;

  private volatile boolean any;
  private final Set<Key> known = new LinkedHashSet<>();

  private record Key(int shuffleId, long mapId) {}

  synchronized void add(BlockRange block) {
    any = true;
    if (known.add(new Key(block.shuffleId(), block.mapId())) && known.size() > MOST) {
      known.remove(known.iterator().next());
    }
  }

  /** Without a lock until there is one. */
  boolean contain(BlockRange block) {
    return any && isKnown(new Key(block.shuffleId(), block.mapId()));
  }

  private synchronized boolean isKnown(Key key) {
    return known.contains(key);
  }
}
