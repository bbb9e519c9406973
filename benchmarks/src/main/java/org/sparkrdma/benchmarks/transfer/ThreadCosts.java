// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** Costs of this JVM's Java threads until one time, by the thread's id. */
record ThreadCosts(Map<Long, ThreadRole> roles, Map<Long, ThreadCost> costs) {
  static ThreadCosts now() {
    ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long[] ids = bean.getAllThreadIds();
    long[] cpuNs = bean.getThreadCpuTime(ids);
    long[] allocatedBytes = bean.getThreadAllocatedBytes(ids);
    ThreadInfo[] infos = bean.getThreadInfo(ids);
    Map<Long, ThreadRole> roles = new HashMap<>();
    Map<Long, ThreadCost> costs = new HashMap<>();
    for (int i = 0; i < ids.length; i++) {
      // A thread that has ended has no name, and -1 for the figures.
      if (infos[i] != null && cpuNs[i] >= 0 && allocatedBytes[i] >= 0) {
        roles.put(ids[i], ThreadRole.of(infos[i].getThreadName()));
        costs.put(ids[i], new ThreadCost(cpuNs[i], allocatedBytes[i]));
      }
    }
    return new ThreadCosts(roles, costs);
  }

  /** The growth since an earlier time, by role; roles without threads are left out. */
  Map<ThreadRole, ThreadCost> since(ThreadCosts earlier) {
    Map<ThreadRole, ThreadCost> grown = new EnumMap<>(ThreadRole.class);
    costs.forEach(
        (id, cost) ->
            grown.merge(
                roles.get(id),
                cost.minus(earlier.costs.getOrDefault(id, ThreadCost.NONE)),
                ThreadCost::plus));
    return grown;
  }
}
