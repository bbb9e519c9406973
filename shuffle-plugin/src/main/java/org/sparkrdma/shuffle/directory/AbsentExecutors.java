// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Executors without a record in the directory, so that not every fetch asks the driver: removed
 * executors for ever, others for a second, twice as long after each further miss. Holds a bounded
 * number and evicts the least recently used. Safe for any thread.
 */
final class AbsentExecutors {
  private static final int MAX_ENTRIES = 1_024;
  private static final long FIRST_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long MAX_NS = TimeUnit.SECONDS.toNanos(32);
  private static final long GONE = -1;

  private final LongSupplier nowNs;
  private final Map<String, Absence> absences = new LeastRecentlyUsed();

  /** Start and duration of the pause before the next query; or {@link #GONE}. */
  private record Absence(long sinceNs, long forNs) {}

  AbsentExecutors(LongSupplier nowNs) {
    this.nowNs = nowNs;
  }

  /** Whether the driver must not be asked for it now. */
  synchronized boolean contains(String executorId) {
    Absence absence = absences.get(executorId);
    return absence != null
        && (absence.forNs == GONE || nowNs.getAsLong() - absence.sinceNs < absence.forNs);
  }

  synchronized void addMiss(String executorId) {
    Absence before = absences.get(executorId);
    if (before == null || before.forNs != GONE) {
      long forNs = before == null ? FIRST_NS : Math.min(2 * before.forNs, MAX_NS);
      absences.put(executorId, new Absence(nowNs.getAsLong(), forNs));
    }
  }

  synchronized void addGone(String executorId) {
    absences.put(executorId, new Absence(0, GONE));
  }

  synchronized void remove(String executorId) {
    absences.remove(executorId);
  }

  synchronized int size() {
    return absences.size();
  }

  private static final class LeastRecentlyUsed extends LinkedHashMap<String, Absence> {
    private static final long serialVersionUID = 1L;

    LeastRecentlyUsed() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Absence> eldest) {
      return size() > MAX_ENTRIES;
    }
  }
}
