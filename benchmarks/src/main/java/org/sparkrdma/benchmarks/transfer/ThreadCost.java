// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.Serializable;

/**
 * Cost of some threads.
 *
 * @param cpuNs CPU time
 * @param allocatedBytes bytes allocated on the heap
 */
record ThreadCost(long cpuNs, long allocatedBytes) implements Serializable {
  static final ThreadCost NONE = new ThreadCost(0, 0);

  ThreadCost plus(ThreadCost other) {
    return new ThreadCost(cpuNs + other.cpuNs, allocatedBytes + other.allocatedBytes);
  }

  ThreadCost minus(ThreadCost other) {
    return new ThreadCost(cpuNs - other.cpuNs, allocatedBytes - other.allocatedBytes);
  }
}
