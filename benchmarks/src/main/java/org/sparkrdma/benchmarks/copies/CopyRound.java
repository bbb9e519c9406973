// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

/**
 * CPU time of one round, in microseconds.
 *
 * @param readUs of each copy by a positioned read
 * @param mappedUs of each copy out of a mapping that was read before, with its part of the guards
 * @param newMappedUs of each copy out of a new mapping, page faults and guards included
 * @param mapUs to map a file
 * @param unmapUs to unmap a file that was read
 */
record CopyRound(double readUs, double mappedUs, double newMappedUs, double mapUs, double unmapUs) {
  double mappedRatio() {
    return readUs / mappedUs;
  }

  double newMappedRatio() {
    return readUs / newMappedUs;
  }
}
