// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.HashMap;
import java.util.Map;

/**
 * Costs of this JVM's Java threads until one time, by the thread's id.
 *
 * @param deviceCpuNs CPU time of the loopback engine's thread, which is in the place of a device
 * @param allocatedBytes bytes that the other threads have allocated on the heap
 */
record ThreadCosts(Map<Long, Long> deviceCpuNs, Map<Long, Long> allocatedBytes) {
  private static final String DEVICE = "soft-rdma-";

  static ThreadCosts now() {
    ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Map<Long, Long> deviceCpuNs = new HashMap<>();
    Map<Long, Long> allocatedBytes = new HashMap<>();
    for (ThreadInfo thread : bean.getThreadInfo(bean.getAllThreadIds())) {
      // A thread that has ended has no facts, or -1 for the figures.
      if (thread != null && thread.getThreadName().startsWith(DEVICE)) {
        deviceCpuNs.put(
            thread.getThreadId(), Math.max(0, bean.getThreadCpuTime(thread.getThreadId())));
      } else if (thread != null) {
        allocatedBytes.put(
            thread.getThreadId(), Math.max(0, bean.getThreadAllocatedBytes(thread.getThreadId())));
      }
    }
    return new ThreadCosts(deviceCpuNs, allocatedBytes);
  }

  long deviceCpuNsSince(ThreadCosts earlier) {
    return growth(earlier.deviceCpuNs, deviceCpuNs);
  }

  long allocatedBytesSince(ThreadCosts earlier) {
    return growth(earlier.allocatedBytes, allocatedBytes);
  }

  private static long growth(Map<Long, Long> earlier, Map<Long, Long> later) {
    return later.entrySet().stream()
        .mapToLong(thread -> thread.getValue() - earlier.getOrDefault(thread.getKey(), 0L))
        .sum();
  }
}
