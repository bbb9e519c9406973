// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.PrintWriter;

/**
 * One line on a terminal that says what a command is doing. Confined to the main thread.
 *
 * @param out the terminal
 * @param shown false when there is none
 */
record LiveLine(PrintWriter out, boolean shown) {
  /** Erases from the cursor to the end of the line, see "EL" of ECMA-48. */
  private static final String ERASE = "\033[K";

  void show(String text) {
    if (shown) {
      out.print("\r" + text + ERASE);
      out.flush();
    }
  }

  void clear() {
    if (shown) {
      out.print("\r" + ERASE);
      out.flush();
    }
  }
}
