// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * Leases of the peer that are not used any more, in the order of their ends. The next request
 * releases them; they wait for a LOCATE that follows, but not for long. Owned by the agent.
 */
final class LeasesToRelease {
  /** Time for which a lease may wait for a LOCATE that releases it. */
  private static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private final ArrayDeque<Long> leases = new ArrayDeque<>();
  private boolean waiting;
  private long waitingSinceNs;

  boolean isEmpty() {
    return leases.isEmpty();
  }

  boolean contains(long leaseId) {
    return leases.contains(leaseId);
  }

  void add(long leaseId) {
    leases.add(leaseId);
  }

  /** Removes the first; there must be one. */
  long take() {
    return leases.remove();
  }

  /** Notes the time since which there are leases. */
  void noteWait(long nowNs) {
    if (leases.isEmpty()) {
      waiting = false;
    } else if (!waiting) {
      waiting = true;
      waitingSinceNs = nowNs;
    }
  }

  /**
   * Whether they should be released without a LOCATE now; call {@link #noteWait} before.
   *
   * @param locateFollows whether a LOCATE is to follow an answer, which releases them too
   */
  boolean areDue(boolean locateFollows, long nowNs) {
    return waiting && (!locateFollows || nowNs - waitingSinceNs >= MAX_WAIT_NS);
  }
}
