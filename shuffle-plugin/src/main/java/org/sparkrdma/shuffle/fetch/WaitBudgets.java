// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.concurrent.TimeUnit;

/**
 * The budgets of what an executor's tasks wait for, with their capacities. Each task waits for
 * memory and for peers, so these have one parent. Stateless.
 */
public final class WaitBudgets {
  /** What a peer may cost, with a factor of 1. */
  public static final long PEER_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private WaitBudgets() {}

  /**
   * Of all that an executor's tasks wait for.
   *
   * @param factor of the capacities: the setting {@code waits.factor}
   */
  public static WaitBudget ofReader(int factor) {
    return new WaitBudget(1_500, 0, true, null, factor);
  }

  /**
   * Of receive memory: tasks free it in milliseconds, or not at all; on a busy machine within a
   * second.
   */
  static WaitBudget ofMemory(WaitBudget reader) {
    return new WaitBudget(250, 1, true, reader, Math.min(4, reader.factor));
  }

  /** Of all peers: a rack costs as much as two of them. */
  public static WaitBudget ofPeers(WaitBudget reader) {
    return new WaitBudget(1_000, 0, reader);
  }

  /**
   * Of a peer: one time-out of an acknowledgement; answers of well peers take less than a fifth.
   */
  public static WaitBudget ofPeer(WaitBudget peers) {
    return new WaitBudget(TimeUnit.NANOSECONDS.toMillis(PEER_NS), 100, peers);
  }

  /**
   * Of the first connections of an executor, once: hundreds of peers that are well may take longer
   * than each of them may later.
   */
  public static WaitBudget ofFirstConnections(WaitBudget reader) {
    return new WaitBudget(500, 200, false, reader, reader.factor);
  }
}
