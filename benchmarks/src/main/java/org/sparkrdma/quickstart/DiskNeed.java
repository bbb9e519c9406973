// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import org.sparkrdma.launch.DataSize;

/** How much disk the runs take at their fullest moment. */
final class DiskNeed {
  /** Logs and copies of jars, whatever the size. */
  private static final long FIXED_BYTES = 200L << 20;

  private DiskNeed() {}

  /**
   * Input, then for one run at a time shuffle and spill files, and its output or, if they are kept,
   * that of all runs. Each is as long as the input; a tenth is added for checksum files.
   */
  static DataSize of(DataSize input, int runs, boolean keep) {
    long outputs = keep ? runs : 1;
    long copies = 1 + 2 + outputs;
    return new DataSize(copies * (input.bytes() + input.bytes() / 10) + FIXED_BYTES);
  }
}
