// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.benchmarks.broadcast.BroadcastCommand;
import org.sparkrdma.benchmarks.chart.ChartCommand;
import org.sparkrdma.benchmarks.jobs.CompareCommand;
import org.sparkrdma.benchmarks.jobs.JobCommand;
import org.sparkrdma.benchmarks.jobs.RegressCommand;
import org.sparkrdma.benchmarks.transfer.TransferCommand;
import org.sparkrdma.matrix.MatrixCommand;
import org.sparkrdma.quickstart.Quickstart;
import org.sparkrdma.soak.Soak;
import picocli.CommandLine;

/** The help in a script has the options of its command. */
@Timeout(60)
class ScriptHelpTest {
  /** Scripts, their commands, and what stands before a default in the help. */
  static Stream<Arguments> commands() {
    return Stream.of(
        Arguments.of(
            "bench broadcast", ClusterCommand.commandLine(BroadcastCommand.class), "default "),
        Arguments.of("bench chart", ClusterCommand.commandLine(ChartCommand.class), "default "),
        Arguments.of("bench compare", ClusterCommand.commandLine(CompareCommand.class), "default "),
        Arguments.of("bench groupby", ClusterCommand.commandLine(JobCommand.class), "default "),
        Arguments.of("bench regress", ClusterCommand.commandLine(RegressCommand.class), "default "),
        Arguments.of(
            "bench transfer", ClusterCommand.commandLine(TransferCommand.class), "default "),
        Arguments.of("dev/matrix", ClusterCommand.commandLine(MatrixCommand.class), ""),
        Arguments.of("dev/soak", ClusterCommand.commandLine(Soak.class), "default "),
        Arguments.of("quickstart", ClusterCommand.commandLine(Quickstart.class), ""));
  }

  /** Every option that is not hidden has a line with its default, if it has one. */
  @ParameterizedTest
  @MethodSource("commands")
  void shouldExplainEveryOptionAndEveryDefault(
      String script, CommandLine command, String beforeDefault) throws Exception {
    String help = Script.run(Map.of(), (script + " --help").split(" ")).output();
    command.getCommandSpec().options().stream()
        .filter(option -> !option.hidden())
        .forEach(
            option -> {
              assertThat(help).contains("\n  " + option.longestName() + " ");
              if (option.defaultValue() != null) {
                assertThat(help).contains(beforeDefault + option.defaultValue());
              }
            });
  }
}
