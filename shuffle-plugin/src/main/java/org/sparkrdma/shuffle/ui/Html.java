// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import java.util.Locale;

/** Text for pages. Stateless. */
final class Html {
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

  private Html() {}

  /** Text in which no character has a meaning in HTML, inside of an element or an attribute. */
  static String escape(String text) {
    StringBuilder escaped = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> escaped.append("&amp;");
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '"' -> escaped.append("&quot;");
        case '\'' -> escaped.append("&#39;");
        default -> escaped.append(c < ' ' && c != '\n' && c != '\t' ? ' ' : c);
      }
    }
    return escaped.toString();
  }

  /** Text whose words stay in one line. */
  static String unbroken(String text) {
    return text.replace(' ', '\u00a0');
  }

  /** A share in percent, rounded down so that 100 % is all of it; a dash without a whole. */
  static String percent(long part, long whole) {
    return unbroken(whole == 0 ? "–" : (long) (100.0 * part / whole) + " %");
  }

  /** A number of bytes with its unit in one line, such as {@code 1.5 GiB}. */
  static String bytes(long bytes) {
    double value = bytes;
    int unit = 0;
    while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return unbroken(
        unit == 0 ? bytes + " B" : String.format(Locale.ROOT, "%.1f %s", value, UNITS[unit]));
  }
}
