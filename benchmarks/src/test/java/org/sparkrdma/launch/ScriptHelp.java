/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
   * Every option that is not hidden has a line, and its default, where it has one, is said.
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
