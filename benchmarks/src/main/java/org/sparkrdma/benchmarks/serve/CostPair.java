// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.serve;

/**
 * Both ways measured right after each other.
 *
 * @param registerNs of registering a window of that length and giving it back
 * @param copyNs of copying as many bytes
 */
record CostPair(long registerNs, long copyNs) {
  double ratio() {
    return (double) registerNs / copyNs;
  }
}
