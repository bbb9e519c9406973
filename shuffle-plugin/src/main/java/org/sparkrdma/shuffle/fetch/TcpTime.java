// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

/**
 * How long a peer's blocks take by TCP, as single blocks show that are fetched for it. Safe for any
 * thread.
 */
public final class TcpTime {
  private volatile long lengthNs;

  /** A block has come after this time; what a pause of the peer adds shows nothing. */
  void add(long afterNs) {
    long countedNs = Math.min(afterNs, WaitBudgets.PEER_NS);
    long before = lengthNs;
    // Two at a time may count as one.
    lengthNs = before == 0 ? countedNs : before + (countedNs - before) / 4;
  }

  /** Time of a block in nanoseconds; 0 before the first. */
  public long lengthNs() {
    return lengthNs;
  }
}
