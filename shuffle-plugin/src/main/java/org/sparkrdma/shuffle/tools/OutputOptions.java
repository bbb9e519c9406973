// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Option;

/** Options for the form of the output. Confined to the main thread. */
final class OutputOptions {
  /** Use of colours. */
  enum Colors {
    AUTO,
    ALWAYS,
    NEVER
  }

  @Option(names = "--json", description = "Print JSON instead of text.")
  private boolean json;

  @Option(
      names = "--color",
      paramLabel = "WHEN",
      defaultValue = "AUTO",
      description = "auto (the default: only on a terminal), always or never.")
  private Colors colors;

  boolean json() {
    return json;
  }

  static boolean onTerminal() {
    return Ansi.AUTO.enabled();
  }

  Style style() {
    return new Style(colors == Colors.ALWAYS || (colors == Colors.AUTO && onTerminal()));
  }
}
