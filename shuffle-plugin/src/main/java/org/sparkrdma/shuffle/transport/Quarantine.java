// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

/**
 * The quarantine of a peer, and the tests of the peer after it. Owned by the agent.
 *
 * <p>A connection tests the peer first, and then a request that reads the beginning of a block and
 * drops it; all blocks use TCP meanwhile. Only data shows that the peer serves, so the time doubles
 * with each quarantine until an answer of the peer was read.
 */
final class Quarantine {
  /** Length of the last one; 0 when data was read since. */
  private long lengthNs;

  private long endNs;
  private boolean running;

  /**
   * Whether the peer failed on a connection, so that a connection does not show that it is well.
   */
  private boolean connectionFailed;

  /**
   * Begins.
   *
   * @param withoutConnection whether no connection to the peer could be established
   * @return the time in nanoseconds
   */
  long begin(long nowNs, long firstNs, long maxNs, boolean withoutConnection) {
    lengthNs = lengthNs == 0 ? firstNs : Math.min(2 * lengthNs, maxNs);
    endNs = nowNs + lengthNs;
    running = true;
    connectionFailed |= !withoutConnection;
    return lengthNs;
  }

  boolean isRunning(long nowNs) {
    return running && nowNs - endNs < 0;
  }

  /** Whether it began, and no data of the peer was read since. */
  boolean needsTest() {
    return lengthNs != 0;
  }

  /** A connection is established; it ends a quarantine that had the lack of one as its reason. */
  void onConnection() {
    running &= connectionFailed;
  }

  /** An answer of the peer was read. */
  void onServed() {
    lengthNs = 0;
    running = false;
    connectionFailed = false;
  }
}
