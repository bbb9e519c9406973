// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.concurrent.TimeUnit;

/**
 * Detects a dead peer while an answer or a READ is outstanding. Kernel siw never reports a lost
 * host, and no device does while only an answer of the peer is outstanding. After a silence without
 * outstanding work requests, a zero-length READ probes the peer's device. The device answers it
 * without its process, so a stopped process or one in garbage collection counts as alive (IBTA
 * C9-88: a zero-length READ needs no key). If the silence continues, the peer is dead. Owned by the
 * agent.
 *
 * <p>No probe is posted behind other work requests, which test the device as well. Kernel rxe 6.12
 * checks the key when it receives a zero-length READ again (rxe_resp.c, read_reply), so a probe
 * would break a connection that only retransmits lost packets.
 *
 * <p>Each check adds at most 100 ms of silence, so that a pause of this process counts little.
 */
final class PeerWatch {
  private static final long MAX_STEP_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int PROBES_PER_TIMEOUT = 2;

  /** Result of a check. */
  enum Finding {
    ALIVE,
    /** Silent: post a probe now. */
    PROBE,
    DEAD
  }

  private final long timeoutNs;
  private long silentNs;
  private long lastCheckNs;

  /**
   * @param timeoutNs duration of silence after which the peer is dead
   */
  PeerWatch(long timeoutNs, long nowNs) {
    this.timeoutNs = timeoutNs;
    this.lastCheckNs = nowNs;
  }

  /** A message or completion of the peer arrived. */
  void onReceived() {
    silentNs = 0;
  }

  /**
   * Checks for silence.
   *
   * @param awaiting whether an answer or READ of the peer is outstanding
   * @param outstanding whether work is posted that the peer's device has not completed
   */
  Finding check(long nowNs, boolean awaiting, boolean outstanding) {
    long stepNs = Math.min(nowNs - lastCheckNs, MAX_STEP_NS);
    lastCheckNs = nowNs;
    silentNs = awaiting ? silentNs + stepNs : 0;
    if (outstanding) {
      return silentNs < timeoutNs ? Finding.ALIVE : Finding.DEAD;
    }
    return silentNs < timeoutNs / PROBES_PER_TIMEOUT ? Finding.ALIVE : Finding.PROBE;
  }

  @Override
  public String toString() {
    return "silentMs=" + TimeUnit.NANOSECONDS.toMillis(silentNs);
  }
}
