// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayList;
import org.sparkrdma.leak.LeakRecord;

/** The right of one peer to READ the ranges of one answer. Confined to the agent. */
final class Lease {
  private final long peer;
  private final ArrayList<CachedRange> ranges = new ArrayList<>();
  private Long id;
  private long deadlineNs;
  private LeakRecord leakRecord;

  /** A lease that is not granted yet. */
  Lease(long peer) {
    this.peer = peer;
  }

  long peer() {
    return peer;
  }

  Long id() {
    return id;
  }

  /** The end of its time, once it is granted. */
  long deadlineNs() {
    return deadlineNs;
  }

  boolean isEmpty() {
    return ranges.isEmpty();
  }

  void hold(CachedRange range) {
    if (range.hold(this)) {
      ranges.add(range);
    }
  }

  /** It is granted, and its time begins. */
  void begin(Long newId, long newDeadlineNs) {
    id = newId;
    deadlineNs = newDeadlineNs;
    leakRecord = LeakRecord.acquire("lease");
  }

  /** Holds its ranges no more. */
  void end(long nowNs) {
    for (CachedRange range : ranges) {
      range.release(nowNs);
    }
    ranges.clear();
    if (leakRecord != null) {
      leakRecord.release();
      leakRecord = null;
    }
  }
}
