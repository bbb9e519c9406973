// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.launch.Script.Outcome;

/**
 * Every script as a user runs it, on the jars as packaged: a wrong option, the smallest real run.
 * Jobs are in {@link JobScriptsIT}, other measurements in {@link MeasuringScriptsIT}; runs of the
 * guest tool are in the guest tests, which have its kernel.
 */
@Timeout(400)
class ScriptsIT {
  private static final int MISUSE = 2;
  private static final int GUEST_FAILED = 125;
  private static final int TERMINATED = 128 + 15;

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "quickstart --sise 1m",
        "dev/matrix --cell oldest",
        "dev/soak --hours=2",
        "bench list --long",
        "bench groupby --round 1",
        "card rxe0 --case Reads",
        "quickstart extra",
        "bench",
        "bench everything",
        "quickstart --size big",
        "quickstart --report /proc/report.json",
        "quickstart --work-dir /proc/work",
        "quickstart --modes rdmaa",
        "quickstart --job pagerank",
        "dev/soak --minutes short",
        "bench groupby --rounds --keep",
        "bench transfer --total 5",
        "bench groupby --conf pinned.max=1m",
        "bench regress --job sort HEAD",
        "card rxe0 --minutes soon",
        "card rxe0 --cases Reads,,Sends"
      })
  void shouldRefuseAnUnknownOptionOrAWrongValueWithoutJava(String command) throws Exception {
    Outcome outcome = run(Map.of("JAVA_HOME", directory.toString()), command);
    assertThat(outcome.output()).hasLineCount(1).contains("see ./").contains("--help)");
    assertThat(outcome.exitCode()).isEqualTo(MISUSE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dev/matrix --cells 1.0.0-2.10-8",
        "dev/matrix --cells 3.5.9-2.12-25",
        "dev/soak --minutes 0",
        "dev/soak --jobs sorting",
        "bench groupby --shapes 2x2",
        "bench compare none.json none.json",
        "bench regress no-such-commit",
        "bench transfer --sizes 64m",
        "bench transfer --latency --sizes 4k --batch 3000"
      })
  void shouldRefuseAWrongValueInOneSentenceWithoutABuild(String command) throws Exception {
    Outcome outcome = run(Map.of(), command);
    assertThat(outcome.output()).hasLineCount(1).contains("--help)");
    assertThat(outcome.exitCode()).isEqualTo(MISUSE);
  }

  /** The build is a script that sends SIGTERM to its parent. */
  @Test
  void shouldEndWithTheExitCodeOfTheSignalDuringTheBuild() throws Exception {
    Path maven =
        Files.writeString(
            directory.resolve("mvnw"), "#!/bin/sh\nkill -TERM $PPID\nexec sleep 600\n");
    assertThat(maven.toFile().setExecutable(true)).isTrue();
    Path script =
        Files.writeString(
            directory.resolve("build"),
            "program=build project=%s; source %s; cd %s; run_maven log"
                .formatted(
                    directory, Path.of("..", "dev", "launch.bash").toAbsolutePath(), directory));
    assertThat(run(Map.of(), script.toString()).exitCode()).isEqualTo(TERMINATED);
    assertThat(directory.resolve("log")).doesNotExist();
  }

  @Test
  void shouldReportTheRequirementsThatThisMachineMeets() throws Exception {
    assertThat(run(Map.of(), "dev/guest packages").output()).contains("rdma-core");
    Outcome check = run(Map.of(), "dev/guest check");
    assertThat(check.exitCode()).isIn(0, GUEST_FAILED);
    assertThat(check.output())
        .containsPattern(check.exitCode() == 0 ? "(?m)^kernel +" : "^guest: ");
  }

  @Test
  @Tag("nightly")
  void shouldSoakForSomeSeconds() throws Exception {
    Outcome outcome = run("dev/soak --minutes 0.2");
    Script.assertSucceeded(outcome, "Every answer was right");
  }

  private Outcome run(String command) throws IOException, InterruptedException {
    return Script.runBriefly(command, directory.resolve("work"));
  }

  private static Outcome run(Map<String, String> variables, String command)
      throws IOException, InterruptedException {
    return Script.run(variables, command.split(" "));
  }
}
