// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.Console;
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
      description = "auto (the default: only on a terminal, without NO_COLOR), always or never.")
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

  /** Whether a line of the output can be overwritten, with or without colours. */
  static boolean onTerminal() {
    return !isDumb(System.getenv()) && isTerminal(System.console());
  }

  /** On Java 22 to 24 there is a console on a pipe too. */
  private static boolean isTerminal(Console console) {
    if (console == null) {
      return false;
    }
    try {
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (ReflectiveOperationException e) {
      // Before Java 22.
      return true;
    }
  }

  /** Whether the output is a terminal that knows colours, and NO_COLOR does not forbid them. */
  static boolean colorsByDefault(Map<String, String> environment) {
    return !isDumb(environment) && Ansi.AUTO.enabled();
  }

  private static boolean isDumb(Map<String, String> environment) {
    return "dumb".equals(environment.get("TERM"));
  }

  /**
   * Line breaks on a terminal: at the columns that COLUMNS says, else at its width, or at 55 where
   * that is not known or smaller.
   */
  LineWrap lineWrap() {
    if (!onTerminal()) {
      return LineWrap.NONE;
    }
    String columns = String.valueOf(System.getenv("COLUMNS"));
    return new LineWrap(
        columns.matches("[1-9][0-9]{1,4}")
            ? Integer.parseInt(columns)
            : spec.usageMessage().autoWidth(true).width());
  }

  Style style() {
    return new Style(
        colors == Colors.ALWAYS || (colors == Colors.AUTO && colorsByDefault(System.getenv())));
  }
}
