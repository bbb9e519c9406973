// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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

  private Colors colors = Colors.AUTO;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  /** A method, so that a wrong value is refused before the command begins. */
  @Option(
      names = "--color",
      paramLabel = "WHEN",
      defaultValue = "auto",
      description = "auto (the default: only on a terminal), always or never.")
  void setColors(String when) {
    colors =
        Stream.of(Colors.values())
            .filter(value -> value.name().equalsIgnoreCase(when))
            .findFirst()
            .orElseThrow(
                () -> Commands.wrongValue(spec, "--color " + when, "auto, always or never"));
  }

  boolean json() {
    return json;
  }

  static boolean onTerminal() {
    return onTerminal(System.getenv());
  }

  /** Whether the output is a terminal that knows escape sequences. */
  static boolean onTerminal(Map<String, String> environment) {
    return !"dumb".equals(environment.get("TERM")) && Ansi.AUTO.enabled();
  }

  Style style() {
    return new Style(colors == Colors.ALWAYS || (colors == Colors.AUTO && onTerminal()));
  }
}
