// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.serve;

/**
 * One measurement of each way of serving, one directly after the other.
 *
 * @param registerNs nanoseconds to register and deregister a window
 * @param copyNs nanoseconds to copy as many bytes
 */
record CostPair(long registerNs, long copyNs) {
  double ratio() {
    return (double) registerNs / copyNs;
  }
}
