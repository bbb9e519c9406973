// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Executors without a record in the directory, so that not every fetch asks the driver: removed
 * executors for ever, others for a second, twice as long after each further miss. After a query
 * that failed the pause is a second, since the driver may have a record. Holds a bounded number and
 * evicts the least recently used. Safe for any thread.
 */
final class AbsentExecutors {
  private static final int MAX_ENTRIES = 1_024;
  private static final long FIRST_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long MAX_NS = TimeUnit.SECONDS.toNanos(32);
  private static final long GONE = -1;

  private final LongSupplier nowNs;
  private final Map<String, Absence> absences = new LeastRecentlyUsed();

  /**
   * Start and duration of the pause before the next query.
   *
   * @param forNs the duration, or {@link #GONE}
   * @param missNs duration of the pause after the last miss; 0 before the first one
   */
  private record Absence(long sinceNs, long forNs, long missNs) {}

  AbsentExecutors(LongSupplier nowNs) {
    this.nowNs = nowNs;
  }

  /** Whether the driver must not be asked for it now. */
  synchronized boolean contains(String executorId) {
    Absence absence = absences.get(executorId);
    return absence != null
        && (absence.forNs == GONE || nowNs.getAsLong() - absence.sinceNs < absence.forNs);
  }

  /** The driver has answered, and has no record of it. */
  synchronized void addMiss(String executorId) {
    long missNs = missNs(executorId);
    pause(executorId, missNs == 0 ? FIRST_NS : Math.min(2 * missNs, MAX_NS), true);
  }

  /** The driver has not answered: the pause does not grow. */
  synchronized void addFailure(String executorId) {
    pause(executorId, FIRST_NS, false);
  }

  private long missNs(String executorId) {
    Absence before = absences.get(executorId);
    return before == null ? 0 : before.missNs;
  }

  private void pause(String executorId, long forNs, boolean miss) {
    Absence before = absences.get(executorId);
    if (before == null || before.forNs != GONE) {
      long missNs = miss ? forNs : missNs(executorId);
      absences.put(executorId, new Absence(nowNs.getAsLong(), forNs, missNs));
    }
  }

  synchronized void addGone(String executorId) {
    absences.put(executorId, new Absence(0, GONE, 0));
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
