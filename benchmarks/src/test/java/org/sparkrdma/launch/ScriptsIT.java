// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.launch.Script.Outcome;

/**
 * Every script as a user runs it, on the jars as packaged: its help, a wrong option, the smallest
 * real run. Jobs are in {@link JobScriptsIT}, other measurements in {@link MeasuringScriptsIT};
 * runs of the guest tool are in the guest tests, which have its kernel.
 */
@Timeout(400)
class ScriptsIT {
  private static final int MISUSE = 2;
  private static final int GUEST_FAILED = 125;
  private static final int TERMINATED = 128 + 15;

  /** Three times what a start may take on a machine that does nothing else. */
  private static final Duration MAX_START = Duration.ofSeconds(9);

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "quickstart",
        "dev/matrix",
        "dev/soak",
        "bench",
        "bench list",
        "bench groupby",
        "bench tpch",
        "bench compare",
        "bench regress",
        "bench transfer",
        "card",
        "dev/guest",
        "dev/guest build"
      })
  void shouldPrintHelpWithoutJava(String script) throws Exception {
    Outcome outcome = run(Map.of("JAVA_HOME", directory.toString()), script + " --help");
    assertThat(outcome.output()).startsWith("Usage: ./" + script);
    assertThat(outcome.exitCode()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "quickstart --sise 1m",
        "dev/matrix --cell oldest",
        "dev/soak --hours=2",
        "bench list --long",
        "bench groupby --round 1",
        "bench compare --html x",
        "bench regress --rounds 3",
        "bench transfer --round 1",
        "card rxe0 --case Reads",
        "bench list extra",
        "bench latency",
        "quickstart extra",
        "bench",
        "bench everything"
      })
  void shouldRefuseAnUnknownOptionWithoutJava(String command) throws Exception {
    Outcome outcome = run(Map.of("JAVA_HOME", directory.toString()), command);
    assertThat(outcome.output()).hasLineCount(1).contains("see ./").contains("--help)");
    assertThat(outcome.exitCode()).isEqualTo(MISUSE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "quickstart --size big",
        "quickstart --report .",
        "quickstart --report /proc/report.json",
        "quickstart --work-dir /proc/work",
        "quickstart --work-dir /dev/null",
        "quickstart --modes rdmaa",
        "quickstart --job pagerank",
        "dev/soak --minutes short",
        "bench groupby --rounds --keep",
        "bench transfer --total 5",
        "bench transfer --sizes 4k,0k",
        "bench regress --job sort HEAD",
        "bench groupby --modes rdmaa",
        "card rxe0 --minutes soon",
        "card rxe0 --cases Reads,,Sends"
      })
  void shouldRefuseAWrongValueWithoutJava(String command) throws Exception {
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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          bench list extra         | Unmatched argument: 'extra' (see ./bench list --help)
          bench groupby extra      | Unmatched argument: 'extra' (see ./bench groupby --help)
          bench compare a b c      | Unmatched argument: 'c' (see ./bench compare --help)
          bench regress            | Missing required parameter: 'BASE' (see ./bench regress --help)
          bench groupby --rounds 0 | --rounds is '0': give a whole number from 1 to 1000 (see ./bench groupby --help)
          bench tpch --threads 0   | --threads is '0': give a whole number from 1 to 256 (see ./bench tpch --help)
          quickstart --job sort    | --job is 'sort': give one of groupby, terasort (see ./quickstart --help)
          quickstart --warm-ups -1 | --warm-ups is '-1': give a whole number from 0 to 1000 (see ./quickstart --help)
          """)
  void shouldNameTheWrongArgumentAndTheHelpOfItsCommand(String command, String sentence)
      throws Exception {
    Outcome outcome = run(Map.of(), command);
    String script = command.substring(0, command.indexOf(' '));
    assertThat(outcome.output()).isEqualTo("%s: %s%n".formatted(script, sentence));
    assertThat(outcome.exitCode()).isEqualTo(MISUSE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "[]",
        "{}",
        "{\"plan\":{},\"environment\":{},\"cases\":[]}",
        "{\"plan\":{\"job\":\"groupby\",\"modes\":[\"rdma\"]},\"environment\":{},\"cases\":[{}]}"
      })
  void shouldRefuseToCompareAFileThatIsNoReport(String content) throws Exception {
    Path file = Files.writeString(directory.resolve("bad.json"), content);
    Outcome outcome = run(Map.of(), "bench compare %s %s".formatted(file, file));
    assertThat(outcome.output()).startsWith("bench: not a report of ./bench JOB: " + file + " (");
    assertThat(outcome.exitCode()).isEqualTo(MISUSE);
  }

  /** The start includes a look for changed sources and the start of Java. */
  @Test
  void shouldStartSoonWithoutABuild() throws Exception {
    Path report = Path.of("results/groupby-1132514.json").toAbsolutePath();
    Duration fastest = Duration.ofDays(1);
    for (int i = 0; i < 3; i++) {
      long startedNs = System.nanoTime();
      Outcome outcome = run(Map.of(), "bench compare %s %s".formatted(report, report));
      Duration took = Duration.ofNanos(System.nanoTime() - startedNs);
      Script.assertSucceeded(outcome, "groupby");
      fastest = took.compareTo(fastest) < 0 ? took : fastest;
    }
    System.out.println("fastest start of ./bench compare: " + fastest.toMillis() + " ms");
    assertThat(fastest).isLessThan(MAX_START);
  }

  @Test
  void shouldListTheJobs() throws Exception {
    Outcome outcome = run(Map.of(), "bench list");
    Script.assertSucceeded(outcome, "groupby");
    assertThat(outcome.output()).contains("terasort", "pagerank");
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
                .formatted(directory, Path.of("launch.bash").toAbsolutePath(), directory));
    assertThat(run(Map.of(), script.toString()).exitCode()).isEqualTo(TERMINATED);
    assertThat(directory.resolve("log")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dev/guest fly",
        "dev/guest run --nodes 3 -- true",
        "dev/guest build --now",
        "dev/guest ctl n fly",
        "dev/guest check x",
        "dev/guest packages x"
      })
  void shouldRefuseAWrongOptionOfTheGuestToolInOneSentence(String command) throws Exception {
    Outcome outcome = run(Map.of(), command);
    assertThat(outcome.output()).hasLineCount(1).startsWith("guest: ").contains("allowed");
    assertThat(outcome.exitCode()).isEqualTo(GUEST_FAILED);
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
  void shouldSoakForSomeSeconds() throws Exception {
    Outcome outcome = run("dev/soak --minutes 0.2");
    Script.assertSucceeded(outcome, "Every answer was right");
  }

  @Test
  void shouldSoakWithTheNamedJobsOnly() throws Exception {
    Outcome outcome = run("dev/soak --minutes 0.2 --jobs concurrent_sql,streaming_aggregation");
    Script.assertSucceeded(outcome, "Every answer was right");
    assertThat(outcome.output())
        .containsPattern("\\njobs +((CONCURRENT_SQL|STREAMING_AGGREGATION)=[1-9][0-9]* ?)+\\n");
  }

  private Outcome run(String command) throws IOException, InterruptedException {
    return Script.runBriefly(command, directory.resolve("work"));
  }

  private static Outcome run(Map<String, String> variables, String command)
      throws IOException, InterruptedException {
    return Script.run(variables, command.split(" "));
  }
}
