// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.util.List;

/**
 * The end of a run: the tool's exit code, its whole output, and each node's output.
 *
 * @param nodes by number
 */
record GuestResult(int exitCode, String output, List<NodeResult> nodes) {
  /** The tool's exit code after the time limit. */
  static final int TIMED_OUT = 124;

  /** A node's exit code when its kernel was killed. */
  static final int KILLED = 137;

  /**
   * The node with that number.
   *
   * @param number 1 or 2
   */
  NodeResult node(int number) {
    return nodes.get(number - 1);
  }
}
