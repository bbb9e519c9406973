// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.plan;

/** What goes wrong there; some take an argument. */
public enum Act {
  /** It never happens, and nobody is told. */
  LOSE,
  /** It happens later. The argument is in milliseconds. */
  HOLD,
  /** It fails. The argument is a work status or the system's error number. */
  FAIL,
  /** The peer refuses, without a word of why. */
  REFUSE,
  /** It is changed. The argument is the place of a byte in private data; unused for messages. */
  GARBLE,
  /** One bit of what a READ brings is another. */
  FLIP_BIT,
  /** A READ hangs, and writes noise into its sink just before its queue pair is destroyed. */
  LAND_LATE,
  /** The connection is lost at that moment. */
  DROP_CONNECTION,
  /** The completion queue overruns. */
  OVERRUN,
  /** The device is gone. */
  REMOVE_DEVICE,
  /** Commands of the shell are run first. The argument is the commands. */
  RUN,
  /** The file is deleted once it is registered. */
  DELETE,
  /** The file loses its last bytes once it is registered. */
  TRUNCATE,
  /**
   * It waits until both ends are about to do it. The argument is two files with a colon between
   * them: the one to make and the one to wait for.
   */
  MEET
}
