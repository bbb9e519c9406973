// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

/**
 * Objects and memory that an executor with one connection has at the same time, at least.
 *
 * @param completionQueueDepth capacity of a completion queue
 * @param sendDepth of a queue pair
 * @param receiveDepth of a queue pair
 * @param ringBytes bytes of the rings of a completion queue and a queue pair, which drivers of
 *     hardware pin
 * @param messageRegions number of regions of message buffers
 * @param messageRegionBytes length of each of them
 * @param sinkBytes length of the first region of receive memory
 */
public record ExecutorNeeds(
    int completionQueueDepth,
    int sendDepth,
    int receiveDepth,
    long ringBytes,
    int messageRegions,
    int messageRegionBytes,
    long sinkBytes) {
  /** A protection domain, and one that librdmacm allocates for listeners and connections. */
  public static final int DOMAINS = 2;

  private static final int COMPLETION_QUEUES = 1;
  private static final int QUEUE_PAIRS = 1;

  /** A region of receive memory and a window. */
  private static final int OTHER_REGIONS = 2;

  /** Bytes of all regions of message buffers. */
  public long messageBytes() {
    return (long) messageRegions * messageRegionBytes;
  }

  /** Objects that the kernel counts as hca_object of a control group, see its rdma.rst. */
  public int objects() {
    return DOMAINS + COMPLETION_QUEUES + QUEUE_PAIRS + messageRegions + OTHER_REGIONS;
  }
}
