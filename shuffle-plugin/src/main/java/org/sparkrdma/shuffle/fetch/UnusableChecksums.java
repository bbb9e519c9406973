// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Map outputs whose recorded checksums are known to be wrong; the oldest are forgotten first. Safe
 * for any thread.
 */
public final class UnusableChecksums {
  private static final int MAX_ENTRIES = 10_000;

  private volatile boolean any;
  private final Set<Key> known = new LinkedHashSet<>();

  private record Key(int shuffleId, long mapId) {}

  /** The recorded checksums of a map output are wrong. */
  public synchronized void add(int shuffleId, long mapId) {
    any = true;
    if (known.add(new Key(shuffleId, mapId)) && known.size() > MAX_ENTRIES) {
      known.remove(known.iterator().next());
    }
  }

  /** Takes no lock before the first entry exists. */
  public boolean contain(int shuffleId, long mapId) {
    return any && isKnown(new Key(shuffleId, mapId));
  }

  private synchronized boolean isKnown(Key key) {
    return known.contains(key);
  }
}
