// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Ids of the executors that this executor has quarantined, until data of them is read again or they
 * are forgotten. Bounded. Written by the agent; safe for any thread.
 */
public final class QuarantinedPeers {
  static final int MAX_SHOWN = 20;
  private static final int MAX_PEERS = 1_000;

  private final Set<String> executorIds = new TreeSet<>();

  QuarantinedPeers() {}

  /** Adds a peer, unless 1,000 are listed already. */
  public synchronized void add(String executorId) {
    if (executorIds.size() < MAX_PEERS) {
      executorIds.add(executorId);
    }
  }

  /** Removes a peer, because data of it was read or its state was dropped. */
  public synchronized void remove(String executorId) {
    executorIds.remove(executorId);
  }

  /** Removes all peers, because all connections have ended. */
  public synchronized void clear() {
    executorIds.clear();
  }

  /**
   * The ids in their order, such as {@code 12, 3, 7}; of many the first ones, and how many more.
   */
  public synchronized String shownIds() {
    List<String> shown = executorIds.stream().limit(MAX_SHOWN).toList();
    String text = String.join(", ", shown);
    int more = executorIds.size() - shown.size();
    return more == 0 ? text : text + " and " + more + " more";
  }
}
