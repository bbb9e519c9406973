// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.launch.Script.Outcome;

/** Scripts that run jobs, as a user runs them, on the jars as packaged. */
@Timeout(400)
class JobScriptsIT {
  /** Runs this short are noisy; a fetch that waits for a time-out takes longer than this. */
  private static final double MAX_RECOVERY_RATIO = 2;

  private static final double MORE_SECONDS = 10;

  @TempDir private Path directory;

  @Test
  void shouldCompareTheShufflesOfAJob() throws Exception {
    Path report = directory.resolve("new/groupby.json");
    Outcome outcome =
        run("bench groupby --shapes 4x4x4k --rounds 1 --warm-ups 0 --report " + report);
    Script.assertSucceeded(outcome, "All answers are equal.");
    JsonNode runs = new ObjectMapper().readTree(report.toFile()).at("/cases/0/runs");
    assertThat(runs).hasSize(3);
    assertThat(runs.get(0).at("/bytes/tcp").asLong()).isPositive();
    assertThat(runs.get(1).at("/bytes/read").asLong()).isPositive();
    assertThat(runs.get(2).at("/fallbacks/unavailable").asLong()).isPositive();
    Outcome comparison = run("bench compare %s %s".formatted(report, report));
    Script.assertSucceeded(comparison, "too few rounds");
  }

  @ParameterizedTest
  @Tag("nightly")
  @ValueSource(strings = {"terasort --shapes 2m", "pagerank --shapes 1000x3x2x4"})
  void shouldGetTheSameAnswerOfEachJobByRead(String job) throws Exception {
    Path report = directory.resolve("report.json");
    requireSameAnswer(job + " --report " + report);
    JsonNode runs = new ObjectMapper().readTree(report.toFile()).at("/cases/0/runs");
    assertThat(runs)
        .hasSize(2)
        .allSatisfy(run -> assertThat(run.at("/answer/rows").asLong()).isPositive());
  }

  /** Some minutes for each suite. */
  @ParameterizedTest
  @Tag("nightly")
  @Timeout(1_800)
  @CsvSource({"tpch --shapes 0.01x4xall, 22", "tpcds --shapes 0.01x4xall, 103"})
  void shouldGetTheSameAnswersOfAllQueriesByRead(String job, int queries) throws Exception {
    Path report = directory.resolve("report.json");
    requireSameAnswer(job + " --report " + report);
    JsonNode runs = new ObjectMapper().readTree(report.toFile()).at("/cases/0/runs");
    assertThat(runs).hasSize(2);
    runs.forEach(run -> assertThat(run.at("/querySeconds")).hasSize(queries));
    assertThat(runs.get(1).at("/mode").asText()).isEqualTo("rdma");
    assertThat(runs.get(1).at("/bytes/read").asLong()).isPositive();
  }

  private void requireSameAnswer(String job) throws Exception {
    Outcome outcome = run("bench " + job + " --modes vanilla,rdma --rounds 1 --warm-ups 0");
    Script.assertSucceeded(outcome, "All answers are equal.");
  }

  /**
   * An executor is killed in each run while the shuffle is read. Every day FaultsSuite kills one.
   */
  @Test
  @Tag("nightly")
  void shouldRecoverFromALostExecutorInAboutTheTimeOfSparksOwnShuffle() throws Exception {
    Path report = directory.resolve("new/report.json");
    Outcome outcome =
        run("quickstart --size 8m --modes vanilla,rdma --kill-executor --report " + report);
    Script.assertSucceeded(outcome, "Every run gave the right answer");
    assertThat(outcome.output()).contains("killed an executor", "wall s", "by READ");
    JsonNode runs = new ObjectMapper().readTree(report.toFile()).at("/cases/0/runs");
    assertThat(runs.get(1).at("/bytes/read").asLong()).isPositive();
    double vanilla = runs.get(0).at("/seconds").asDouble();
    assertThat(runs.get(1).at("/seconds").asDouble())
        .isLessThan(MAX_RECOVERY_RATIO * vanilla + MORE_SECONDS);
  }

  private Outcome run(String command) throws IOException, InterruptedException {
    return Script.runBriefly(command, directory.resolve("work"));
  }
}
