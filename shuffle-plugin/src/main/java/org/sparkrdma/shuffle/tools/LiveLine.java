// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.PrintWriter;

/**
 * One line on a terminal that says what a command is doing. It is overwritten with blanks, because
 * a terminal may understand no escape sequences. Confined to the main thread.
 */
final class LiveLine {
  private final PrintWriter out;
  private final boolean shown;

  /** Length of the text on the terminal. */
  private int length;

  /**
   * @param out the terminal
   * @param shown false when there is none
   */
  LiveLine(PrintWriter out, boolean shown) {
    this.out = out;
    this.shown = shown;
  }

  void show(String text) {
    if (shown) {
      out.print("\r" + text + " ".repeat(Math.max(0, length - text.length())));
      out.flush();
      length = text.length();
    }
  }

  void clear() {
    if (shown) {
      out.print("\r" + " ".repeat(length) + "\r");
      out.flush();
      length = 0;
    }
  }
}
