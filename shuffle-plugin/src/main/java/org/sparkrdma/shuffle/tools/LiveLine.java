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
  private static final int WIDTH = 60;

  void show(String text) {
    if (shown) {
      out.printf("\r%-" + WIDTH + "s", text);
      out.flush();
    }
  }

  void clear() {
    if (shown) {
      out.print("\r" + " ".repeat(WIDTH) + "\r");
      out.flush();
    }
  }
}
