// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.benchmarks.broadcast.BroadcastCommand;
import org.sparkrdma.benchmarks.chart.ChartCommand;
import org.sparkrdma.benchmarks.jobs.CompareCommand;
import org.sparkrdma.benchmarks.jobs.JobCommand;
import org.sparkrdma.benchmarks.jobs.Quickstart;
import org.sparkrdma.benchmarks.jobs.RegressCommand;
import org.sparkrdma.benchmarks.jobs.ScarceCommand;
import org.sparkrdma.benchmarks.transfer.TransferCommand;
import org.sparkrdma.matrix.MatrixCommand;
import org.sparkrdma.soak.Soak;

/** The help in a script has the options of its command. */
@Timeout(60)
class ScriptHelpTest {
  /** Scripts, their commands, and what stands before a default in the help. */
  static Stream<Arguments> commands() {
    return Stream.of(
        Arguments.of("bench broadcast", BroadcastCommand.class, "default "),
        Arguments.of("bench chart", ChartCommand.class, "default "),
        Arguments.of("bench compare", CompareCommand.class, "default "),
        Arguments.of("bench groupby", JobCommand.class, "default "),
        Arguments.of("bench regress", RegressCommand.class, "default "),
        Arguments.of("bench scarce", ScarceCommand.class, "default "),
        Arguments.of("bench transfer", TransferCommand.class, "default "),
        Arguments.of("dev/matrix", MatrixCommand.class, ""),
        Arguments.of("dev/soak", Soak.class, "default "),
        Arguments.of("quickstart", Quickstart.class, ""));
  }

  /** Every option that is not hidden has a line with its default, if it has one. */
  @ParameterizedTest
  @MethodSource("commands")
  void shouldExplainEveryOptionAndEveryDefault(
      String script, Class<?> command, String beforeDefault) throws Exception {
    String help = help(script);
    Launcher.commandLine(command).getCommandSpec().options().stream()
        .filter(option -> !option.hidden())
        .forEach(
            option -> {
              assertThat(help).contains("\n  " + option.longestName() + " ");
              if (option.defaultValue() != null) {
                assertThat(help).contains(beforeDefault + option.defaultValue());
              }
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"bench", "bench list", "dev/guest"})
  void shouldExplainScriptsWithoutACommand(String script) throws Exception {
    assertThat(help(script)).isNotEmpty();
  }

  private static String help(String script) throws Exception {
    Map<String, String> withoutJava = Map.of("JAVA_HOME", "/no/such/java");
    Script.Outcome outcome = Script.run(withoutJava, (script + " --help").split(" "));
    assertThat(outcome.output()).startsWith("Usage: ./" + script);
    assertThat(outcome.exitCode()).isZero();
    return outcome.output();
  }
}
