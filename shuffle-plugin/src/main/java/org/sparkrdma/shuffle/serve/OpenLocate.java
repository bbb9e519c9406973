// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * A LOCATE that is being answered, and what it holds until then: the lease of its answer, and the
 * entries that load. Confined to the agent.
 */
final class OpenLocate {
  private final LocateCall call;
  private final Locate request;
  private final long deadlineNs;
  private Lease lease;
  private List<CacheEntry> awaited = List.of();
  private int loading;

  /**
   * @param request a view of the call's message
   * @param deadlineNs time at which it is answered with what there is
   */
  OpenLocate(LocateCall call, Locate request, long deadlineNs) {
    this.call = call;
    this.request = request;
    this.deadlineNs = deadlineNs;
  }

  LocateCall call() {
    return call;
  }

  Locate request() {
    return request;
  }

  long deadlineNs() {
    return deadlineNs;
  }

  /** Holds the ranges of the answer that is being written. */
  Lease lease() {
    return lease;
  }

  /** Number of entries that it waits for. */
  int loading() {
    return loading;
  }

  /** Begins to write the answer, perhaps again: what it held before is released at the end. */
  Held begin(Lease newLease) {
    Held before = new Held(this, lease, awaited);
    lease = newLease;
    awaited = List.of();
    loading = 0;
    return before;
  }

  /** Entries that an earlier walk has held. */
  record Held(OpenLocate locate, Lease lease, List<CacheEntry> awaited) {
    void release(long nowNs) {
      if (lease != null) {
        lease.end(nowNs);
      }
      for (CacheEntry entry : awaited) {
        entry.removeWaiter(locate);
        entry.release(nowNs);
      }
    }
  }

  /** Keeps an entry that is not ready until the answer: also a failed one is not loaded again. */
  void await(CacheEntry entry) {
    if (awaited.isEmpty()) {
      awaited = new ArrayList<>();
    }
    if (entry.hold(awaited)) {
      awaited.add(entry);
      if (entry.isLoading()) {
        entry.addWaiter(this);
        loading++;
      }
    }
  }

  /** An entry has loaded; returns whether it was the last one. */
  boolean onLoaded() {
    loading--;
    return loading == 0;
  }

  /** It is answered: only its lease remains. */
  void endWait(long nowNs) {
    new Held(this, null, awaited).release(nowNs);
    awaited = List.of();
  }

  /** Its connection has ended: it holds nothing any more. */
  void drop(long nowNs) {
    begin(null).release(nowNs);
  }
}
