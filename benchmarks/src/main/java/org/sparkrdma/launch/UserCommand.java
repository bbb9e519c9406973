// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A command of {@code ./bench} as the user gave it, for a report. Stateless. */
public final class UserCommand {
  /** Options with a value that change no result: of the script, and of files. */
  private static final Set<String> WITH_VALUE =
      Set.of("--project", "--work-dir", "--report", "--data");

  /** Likewise, without a value. */
  private static final Set<String> WITHOUT_VALUE = Set.of("--terminal", "--check-only", "--keep");

  private UserCommand() {}

  /**
   * Returns the command without the options of the script and without those that name files.
   *
   * @param name of the command
   * @param arguments of the main class
   */
  public static String of(String name, String... arguments) {
    List<String> words = new ArrayList<>(List.of("./bench", name));
    for (int i = 0; i < arguments.length; i++) {
      String option = arguments[i].split("=", 2)[0];
      if (WITH_VALUE.contains(option)) {
        i += option.equals(arguments[i]) ? 1 : 0;
      } else if (!WITHOUT_VALUE.contains(option)) {
        words.add(arguments[i]);
      }
    }
    return String.join(" ", words);
  }
}
