// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

/** The source of the copies of a batch. */
enum CopyBatch {
  /** One block of each of many map outputs, like a request of Spark. */
  MANY_FILES("of 64 files", 64),
  /** Blocks of one map output: the best case of one guard for a batch. */
  ONE_FILE("of one file", 4);

  /** Most copies of a batch, which have one guard. */
  static final int MAX_COPIES = 64;

  private final String label;
  private final int files;

  CopyBatch(String label, int files) {
    this.label = label;
    this.files = files;
  }

  /** Number of files that hold all blocks. */
  int files() {
    return files;
  }

  /** The name in the table. */
  @Override
  public String toString() {
    return label;
  }
}
