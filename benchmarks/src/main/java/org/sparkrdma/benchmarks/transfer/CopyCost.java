// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.Serializable;

/**
 * CPU time of the two copies without which no client of the loopback engine can deliver a block:
 * from the map-output file into memory, by the device's thread, and from there by the task that
 * reads it.
 *
 * @param copySecondsPerGb of the first one, with a positioned read for each block
 * @param readSecondsPerGb of the second one, with what the task does to the bytes
 */
record CopyCost(double copySecondsPerGb, double readSecondsPerGb) implements Serializable {
  /** The rate in GB/s, of 10⁹ bytes, when two threads do nothing else. */
  double gbPerSecond() {
    return 1 / Math.max(copySecondsPerGb, readSecondsPerGb);
  }

  /** CPU time of both. */
  double secondsPerGb() {
    return copySecondsPerGb + readSecondsPerGb;
  }
}
