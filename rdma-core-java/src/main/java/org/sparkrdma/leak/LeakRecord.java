// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Record of a resource that somebody holds and must release: what it is, and where and by which
 * thread it was acquired.
 *
 * <p>Records are kept where the system property {@code sparkrdma.leaks} is true, as in all tests
 * and their executors. Every test fails that leaves one, and every run of a suite with an executor
 * that leaves one of a task. Elsewhere all records are one and the same object, and acquiring and
 * releasing allocate nothing. Safe for any thread.
 */
public final class LeakRecord {
  private static final boolean ENABLED = Boolean.getBoolean("sparkrdma.leaks");
  private static final LeakRecord DISABLED = new LeakRecord(null);
  private static final Set<LeakRecord> OUTSTANDING = ConcurrentHashMap.newKeySet();

  private final Throwable site;

  private LeakRecord(Throwable site) {
    this.site = site;
  }

  /**
   * Records that the caller acquires a resource here.
   *
   * @param what a word or two, such as "memory region"
   */
  public static LeakRecord acquire(String what) {
    if (!ENABLED) {
      return DISABLED;
    }
    LeakRecord leakRecord =
        new LeakRecord(
            new Throwable(what + " acquired by thread " + Thread.currentThread().getName()));
    OUTSTANDING.add(leakRecord);
    return leakRecord;
  }

  /** Whether records are kept. */
  public static boolean isEnabled() {
    return ENABLED;
  }

  /** Records of resources that are not released yet, of the whole process. */
  public static List<LeakRecord> outstanding() {
    return List.copyOf(OUTSTANDING);
  }

  /** The resource was released. A second call does nothing. */
  public void release() {
    if (ENABLED) {
      OUTSTANDING.remove(this);
    }
  }

  /** The acquired object, its thread and the stack; null where no records are kept. */
  public Throwable site() {
    return site;
  }
}
