// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.fetch.WaitBudget;

/**
 * Whether the READs of a connection trickle: none is long in coming, but they come seldom and bring
 * little, as in a network that drops packets, while all READs of this executor bring less than its
 * link could. By parts of the time in which READs are posted. Confined to the agent.
 */
final class ReadRate {
  private static final long PART_NS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Bytes in a second that no link for RDMA is too slow for. */
  private static final long LITTLE_BYTES = 16 << 20;

  /** The same of all connections together. */
  private static final long LITTLE_OF_ALL_BYTES = 100 << 20;

  /** Shorter while they trickle: the next result shows whether they still do. */
  private long partNs = PART_NS;

  private long beganNs;
  private long allBefore;
  private long postedNs;
  private long bytes;
  private int results;

  /**
   * READs are done.
   *
   * @param waitedNs since they were posted, or since the READ before
   * @param allBytes that all connections have read so far
   */
  void add(long waitedNs, int lengthBytes, long allBytes, long nowNs) {
    if (postedNs == 0) {
      beganNs = nowNs - waitedNs;
      allBefore = allBytes - lengthBytes;
    }
    postedNs += waitedNs;
    bytes += lengthBytes;
    results += waitedNs > 0 ? 1 : 0;
  }

  /** Whether a part of the time is over: {@link #begin} follows. */
  boolean isOver() {
    return postedNs >= partNs;
  }

  boolean trickles(long allBytes, long nowNs) {
    return postedNs >= results * WaitBudget.CHECK_NS
        && isLess(bytes, postedNs, LITTLE_BYTES)
        && isLess(allBytes - allBefore, nowNs - beganNs, LITTLE_OF_ALL_BYTES);
  }

  private static boolean isLess(long bytes, long lengthNs, long bytesInASecond) {
    return (double) bytes * TimeUnit.SECONDS.toNanos(1) < (double) bytesInASecond * lengthNs;
  }

  /** Time of this part in which READs were posted. */
  long postedNs() {
    return postedNs;
  }

  /** What this part has brought. */
  long bytes() {
    return bytes;
  }

  /**
   * Another part begins.
   *
   * @param trickled whether this one did
   */
  void begin(boolean trickled) {
    partNs = trickled ? WaitBudget.CHECK_NS : PART_NS;
    postedNs = 0;
    bytes = 0;
    results = 0;
  }
}
