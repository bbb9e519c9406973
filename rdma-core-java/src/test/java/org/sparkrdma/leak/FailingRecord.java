// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

/**
 * Throws an Error where the next resource of a name is acquired, until closed: any allocation there
 * can. One at a time.
 */
public final class FailingRecord implements AutoCloseable {
  private final String what;
  private boolean failed;

  private FailingRecord(String what) {
    this.what = what;
  }

  /**
   * Begins.
   *
   * @param what name of the resource in its {@link LeakRecord}
   */
  public static FailingRecord of(String what) {
    FailingRecord failing = new FailingRecord(what);
    LeakRecord.onAcquire = failing::onAcquire;
    return failing;
  }

  private void onAcquire(String acquired) {
    if (acquired.equals(what) && !failed) {
      failed = true;
      throw new OutOfMemoryError("thrown by the test");
    }
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
