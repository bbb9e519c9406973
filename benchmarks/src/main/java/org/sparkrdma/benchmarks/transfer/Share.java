// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * Measurements of one executor for one engine in a round; the driver joins them.
 *
 * @param ns wall time
 * @param cpu CPU time meanwhile
 * @param threads cost of the process's Java threads
 * @param counters growth of the plug-in's counters, without zeros
 */
record Share(
    TransferEngine engine,
    boolean server,
    Work work,
    long ns,
    CpuTime cpu,
    Map<ThreadRole, ThreadCost> threads,
    Map<String, Long> counters)
    implements Serializable {
  /**
   * The blocks of a share.
   *
   * @param blocks number of blocks fetched; 0 from the server
   * @param sum sum over the bytes written or read
   * @param requestNs time of each request; empty unless it was measured
   * @param copies cost of the copies alone, measured by the server; null unless it was measured
   */
  record Work(long blocks, long sum, List<Long> requestNs, CopyMeasurement.Cost copies)
      implements Serializable {}

  /** The same with the cost of the copies alone. */
  Share with(CopyMeasurement.Cost copies) {
    Work measured = new Work(work.blocks(), work.sum(), work.requestNs(), copies);
    return new Share(engine, server, measured, ns, cpu, threads, counters);
  }

  ThreadCost of(ThreadRole role) {
    return threads.getOrDefault(role, ThreadCost.NONE);
  }

  /**
   * CPU time that the client caused, without the thread that stands for the device. Threads of the
   * plug-in have timers of their own, which are no cost of Spark's client.
   */
  long cpuNsWithoutDevice() {
    long ns = cpu.ns() - of(ThreadRole.DEVICE).cpuNs();
    if (engine == TransferEngine.NETTY) {
      for (Map.Entry<ThreadRole, ThreadCost> thread : threads.entrySet()) {
        ns -= thread.getKey().isOfPlugin() ? thread.getValue().cpuNs() : 0;
      }
    }
    return ns;
  }

  /** Bytes that the tasks and the plug-in allocated, without the thread for the device. */
  long allocatedBytes() {
    return threads.entrySet().stream()
        .filter(thread -> thread.getKey() == ThreadRole.TASK || thread.getKey().isOfPlugin())
        .mapToLong(thread -> thread.getValue().allocatedBytes())
        .sum();
  }
}
