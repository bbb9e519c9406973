// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

/**
 * Throws an Error where the next resource of a name is acquired, until closed: any allocation there
 * can. One at a time.
 */
public final class FailingRecord implements AutoCloseable {
  private boolean failed;

  private FailingRecord() {}

  /**
   * Begins.
   *
   * @param what name of the resource in its {@link LeakRecord}
   */
  public static FailingRecord of(String what) {
    var record = new FailingRecord();
    LeakRecord.onAcquire =
        acquired -> {
          if (acquired.equals(what) && !record.failed) {
            record.failed = true;
            throw new OutOfMemoryError("thrown by the test");
          }
        };
    return record;
  }

  /** Whether it has thrown. */
  public boolean failed() {
    return failed;
  }

  @Override
  public void close() {
    LeakRecord.onAcquire = null;
  }
}
