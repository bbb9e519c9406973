// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.function.DoubleSupplier;

/**
 * Limit of the idle time of connections. Owned by the agent.
 *
 * <p>The more connections and the more memory of messages are free, the longer an idle connection
 * stays, so that it outlasts the pauses between stages: from one idle time-out while nothing is
 * free up to ten. The free memory is looked up once for each turn of the agent, since that takes
 * the lock of a pool and a turn may visit a thousand connections.
 */
final class IdleLimit {
  /** A connection may be idle for so many idle time-outs more while nearly all room is free. */
  private static final int MORE_IDLE_TIMEOUTS = 9;

  private final long idleTimeoutNs;
  private final int maxConnections;
  private final DoubleSupplier freeMemory;

  /** Free share of the memory in this turn; negative before it is looked up. */
  private double freeShare = -1;

  /**
   * @param freeMemory share of the memory of messages that is free, from 0 to 1
   */
  IdleLimit(long idleTimeoutNs, int maxConnections, DoubleSupplier freeMemory) {
    this.idleTimeoutNs = idleTimeoutNs;
    this.maxConnections = maxConnections;
    this.freeMemory = freeMemory;
  }

  /** A turn of the agent begins. */
  void beginTurn() {
    freeShare = -1;
  }

  /**
   * The limit now.
   *
   * @param staying number of connections that are not about to end: those that end count as free,
   *     so that those of a stage, which become idle together, do not all end together
   */
  long limitNs(int staying) {
    if (freeShare < 0) {
      freeShare = freeMemory.getAsDouble();
    }
    double freeConnections = 1 - (double) staying / maxConnections;
    double free = Math.max(0, Math.min(freeConnections, freeShare));
    return (long) ((1 + MORE_IDLE_TIMEOUTS * free) * idleTimeoutNs);
  }
}
