// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.util.List;

/**
 * How a run ended: the tool's exit code, what it printed as a whole, and each node's part of it.
 *
 * @param nodes in the order of the nodes' numbers
 */
record GuestResult(int exitCode, String output, List<NodeResult> nodes) {
  /** The tool's answer when the time limit was reached. */
  static final int TIMED_OUT = 124;

  /** The tool's answer when it failed itself. */
  static final int TOOL_FAILED = 125;

  /** A node's answer when its kernel was killed. */
  static final int KILLED = 137;

  /**
   * The node of that number.
   *
   * @param number 1 or 2
   */
  NodeResult node(int number) {
    return nodes.get(number - 1);
  }
}
