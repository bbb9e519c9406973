// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * Measurements of one executor for one engine in a round; the driver joins them.
 *
 * @param ns wall time
 * @param cpuNs CPU time meanwhile
 * @param deviceCpuNs CPU time of the thread in the place of a device, which is part of it
 * @param allocatedBytes bytes that the other Java threads have allocated
 * @param counters growth of the plug-in's counters, without zeros
 */
record Share(
    TransferEngine engine,
    boolean server,
    Work work,
    long ns,
    long cpuNs,
    long deviceCpuNs,
    long allocatedBytes,
    Map<String, Long> counters)
    implements Serializable {
  /**
   * The blocks of a share.
   *
   * @param blocks number of blocks fetched; 0 from the server
   * @param sum sum over the bytes written or read
   * @param requestNs time of each request; empty unless it was measured
   */
  record Work(long blocks, long sum, List<Long> requestNs) implements Serializable {}

  /** CPU time without that of the thread in the place of a device. */
  long cpuNsWithoutDevice() {
    return cpuNs - deviceCpuNs;
  }
}
