// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

/** The fault itself; some take an argument. */
public enum Act {
  /** The step is skipped without a report. */
  LOSE,
  /** The step is delayed. The argument is in milliseconds. */
  HOLD,
  /** The step fails. The argument is a work status or an errno. */
  FAIL,
  /** The peer rejects, without a reason. */
  REFUSE,
  /**
   * Bytes of a message are changed. The argument is the index of a byte, or a field of the first
   * extent of a LOCATED and the bit to flip, with a colon between them; if empty, bytes 2 to 15
   * become noise.
   */
  GARBLE,
  /** One bit of the data of a READ is flipped. */
  FLIP_BIT,
  /** A READ hangs, and writes noise into its sink just before its queue pair is destroyed. */
  LAND_LATE,
  /** The queue pair fails: nothing of it completes, no message arrives, and no event says so. */
  FAIL_SILENTLY,
  /** The connection is lost at this step. */
  DROP_CONNECTION,
  /** The completion queue overruns. */
  OVERRUN,
  /** The device is removed. */
  REMOVE_DEVICE,
  /** The thread of the step gets no heap. */
  EXHAUST_HEAP,
  /** The shell commands in the argument are run first. */
  RUN,
  /** The file is deleted once it is registered. */
  DELETE,
  /** The file loses its last bytes once it is registered. */
  TRUNCATE
}
