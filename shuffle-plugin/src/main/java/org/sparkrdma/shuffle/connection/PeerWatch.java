/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.connection;

import java.util.concurrent.TimeUnit;

/**
 * Finds out whether a peer of which something is awaited is still there: kernel siw never tells
 * that a host is gone, and no card does while only the peer's answer is awaited. After a silence in
 * which nothing is on its way to the peer's device a READ of no bytes is posted, which that device
 * answers without its process, so that a peer that is stopped or collects garbage counts as there
 * (IBTA C9-88: such a READ needs no key). When the silence goes on, the peer is dead. Owned by the
 * agent.
 *
 * <p>No probe goes behind other work, which asks the device as well: kernel rxe 6.12 looks for the
 * key when such a READ comes a second time (rxe_resp.c, read_reply), and would break a connection
 * that just repeats what was lost.
 *
 * <p>What counts is time that the agent has seen: of a pause of its own process little is added.
 */
final class PeerWatch {
  private static final long LONGEST_STEP_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int PROBE_AFTER_PART = 2;

  /** What a look found. */
  enum Finding {
    ALIVE,
    /** It has been silent: a probe is to be posted now. */
    PROBE,
    DEAD
  }

  private final long timeoutNs;
  private long silentNs;
  private long lookedNs;

  /**
   * @param timeoutNs of silence after which the peer is dead
   */
  PeerWatch(long timeoutNs, long nowNs) {
    this.timeoutNs = timeoutNs;
    this.lookedNs = nowNs;
  }

  /** Something of the peer arrived. */
  void heard() {
    silentNs = 0;
  }

  /**
   * Has a look.
   *
   * @param awaiting whether anything of the peer is awaited
   * @param outstanding whether work is posted that the peer's device has not completed
   */
  Finding look(long nowNs, boolean awaiting, boolean outstanding) {
    long stepNs = Math.min(nowNs - lookedNs, LONGEST_STEP_NS);
    lookedNs = nowNs;
    silentNs = awaiting ? silentNs + stepNs : 0;
    if (outstanding) {
      return silentNs < timeoutNs ? Finding.ALIVE : Finding.DEAD;
    }
    return silentNs < timeoutNs / PROBE_AFTER_PART ? Finding.ALIVE : Finding.PROBE;
  }

  @Override
  public String toString() {
    return "silentMs=" + TimeUnit.NANOSECONDS.toMillis(silentNs);
  }
}
