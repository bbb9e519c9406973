// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;

/**
 * Resident memory of an executor's process by the kind of its pages, in MiB.
 *
 * @param anonymousMib pages without a file, without the heap: memory of malloc, stacks, compiled
 *     code, classes
 * @param fileMib pages of mapped files
 * @param sharedMib pages of shared memory, tmpfs included
 */
record ResidentPages(double anonymousMib, double fileMib, double sharedMib) {

  /**
   * Reads the kernel's counts.
   *
   * @param heapMib heap of the executor, which is resident as a whole
   */
  static ResidentPages of(ProcessStatus status, int heapMib) throws IOException {
    return new ResidentPages(
        status.mib("RssAnon") - heapMib, status.mib("RssFile"), status.mib("RssShmem"));
  }
}
