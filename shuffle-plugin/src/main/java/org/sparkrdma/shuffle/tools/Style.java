// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import org.sparkrdma.shuffle.tools.doctor.Level;

/**
 * Colours of the output.
 *
 * @param colored whether there are any
 */
record Style(boolean colored) {
  private static final String ESCAPE = "\u001b[";
  private static final String END = ESCAPE + "0m";
  private static final String BOLD = "1m";

  String of(Level level, String text) {
    return in(code(level), text);
  }

  String bold(String text) {
    return in(BOLD, text);
  }

  private String in(String code, String text) {
    return colored ? ESCAPE + code + text + END : text;
  }

  private static String code(Level level) {
    return switch (level) {
      case OK -> "32m";
      case NOTE -> "36m";
      case WARNING -> "33m";
      case PROBLEM -> "1;31m";
    };
  }
}
