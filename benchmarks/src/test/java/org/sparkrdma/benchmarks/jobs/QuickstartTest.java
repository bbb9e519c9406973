// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Launcher;
import org.sparkrdma.launch.Refusal;
import picocli.CommandLine;

@Timeout(60)
class QuickstartTest {
  @TempDir private Path directory;

  @Test
  void shouldRefuseASettingThatItWouldIgnore() {
    for (Class<?> command : List.of(Quickstart.class, JobCommand.class)) {
      String job = command == JobCommand.class ? "groupby" : "--modes=vanilla";
      String[] arguments = {
        job, "--project", ".", "--work-dir", directory.toString(), "--conf", ""
      };
      assertThat(refusal(command, arguments, "pinned.max=1m"))
          .isEqualTo("--conf pinned.max: keys of Spark begin with spark.");
      assertThat(refusal(command, arguments, "spark.speculation=true"))
          .contains("--conf spark.speculation", "the benchmark sets this key itself");
      assertThat(refusal(command, arguments, "spark.x")).contains("KEY=VALUE");
    }
  }

  private static String refusal(Class<?> command, String[] arguments, String setting) {
    arguments[arguments.length - 1] = setting;
    return Refusal.of(command, arguments);
  }

  @Test
  void shouldShuffleAsMuchAsTheUserAsksFor() {
    assertThat(ShuffleJob.GROUPBY.shapeOf(DataSize.parse("256m"))).isEqualTo("256x256x4k");
    assertThat(ShuffleJob.GROUPBY.shapeOf(DataSize.parse("1g"))).isEqualTo("512x512x4k");
    assertThat(ShuffleJob.GROUPBY.shapeOf(DataSize.parse("1k"))).isEqualTo("2x2x4k");
    assertThat(ShuffleJob.TERASORT.shapeOf(DataSize.parse("1536m"))).isEqualTo("1536m");
    assertThat(ShuffleJob.TERASORT.shapeOf(DataSize.parse("2048m"))).isEqualTo("2g");
  }

  @Test
  void shouldWarmUpTheExecutorsUnlessThatTakesLongOrOneIsKilled() {
    assertThat(warmUps()).isEqualTo(5);
    assertThat(warmUps("--warm-ups", "2")).isEqualTo(2);
    assertThat(warmUps("--job", "terasort")).isZero();
    assertThat(warmUps("--kill-executor")).isZero();
    assertThat(warmUps("--job", "terasort", "--warm-ups", "1")).isEqualTo(1);
  }

  private int warmUps(String... arguments) {
    CommandLine commandLine = Launcher.commandLine(Quickstart.class);
    commandLine.parseArgs(all(arguments));
    return commandLine.<Quickstart>getCommand().plan().warmUps();
  }

  private String[] all(String... arguments) {
    List<String> all = new ArrayList<>(List.of("--project", directory.toString()));
    all.addAll(List.of("--work-dir", directory.toString()));
    all.addAll(List.of(arguments));
    return all.toArray(new String[0]);
  }
}
