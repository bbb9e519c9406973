// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.doctor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.directory.ExecutorFindings;

/**
 * Findings that are not logged yet, and when to log them: the first ones when no other executor has
 * reported for some seconds, later ones at most once a minute. Not safe for several threads;
 * guarded by the {@link FindingsLog}.
 */
final class PendingFindings {
  static final int MAX_EXECUTORS = 2_000;

  private static final long FIRST_QUIET_NS = TimeUnit.SECONDS.toNanos(5);

  /** An executor reports at most 10 s after its start. */
  private static final long FIRST_WAIT_NS = TimeUnit.SECONDS.toNanos(15);

  private static final long LATER_WAIT_NS = TimeUnit.SECONDS.toNanos(60);

  private final Map<String, ExecutorFindings> pending = new LinkedHashMap<>();
  private boolean logged;
  private long firstNs;
  private long latestNs;

  /** The latest report of an executor counts; beyond the maximum it is ignored. */
  void add(ExecutorFindings findings, long nowNs) {
    if (pending.size() >= MAX_EXECUTORS && !pending.containsKey(findings.executorId())) {
      return;
    }
    if (pending.isEmpty()) {
      firstNs = nowNs;
    }
    latestNs = nowNs;
    pending.put(findings.executorId(), findings);
  }

  boolean isEmpty() {
    return pending.isEmpty();
  }

  /** Whether to log now. */
  boolean isDue(long nowNs) {
    long waitedNs = nowNs - firstNs;
    return !pending.isEmpty()
        && (logged
            ? waitedNs >= LATER_WAIT_NS
            : waitedNs >= FIRST_WAIT_NS || nowNs - latestNs >= FIRST_QUIET_NS);
  }

  /** Removes all, to log them. */
  List<ExecutorFindings> takeAll() {
    logged = true;
    List<ExecutorFindings> all = new ArrayList<>(pending.values());
    pending.clear();
    return all;
  }
}
