// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import java.util.function.UnaryOperator;
import picocli.CommandLine;

/** Compares the help in a script with the options of its command. Stateless. */
public final class ScriptHelp {
  private ScriptHelp() {}

  /**
   * Every option that is not hidden has a line with its default, if it has one.
   *
   * @param script its name, with the sub-command if it has one
   * @param wording how a default must stand in the help
   */
  public static void assertExplains(
      String script, CommandLine command, UnaryOperator<String> wording)
      throws IOException, InterruptedException {
    String help = Script.run(Map.of(), (script + " --help").split(" ")).output();
    command.getCommandSpec().options().stream()
        .filter(option -> !option.hidden())
        .forEach(
            option -> {
              assertThat(help).contains("\n  " + option.longestName() + " ");
              if (option.defaultValue() != null) {
                assertThat(help).contains(wording.apply(option.defaultValue()));
              }
            });
  }
}
