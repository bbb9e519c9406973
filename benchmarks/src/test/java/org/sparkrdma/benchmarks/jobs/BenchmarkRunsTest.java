// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;
import org.sparkrdma.cluster.LaunchException;

/** The driver's side, in an application without executors, which ends at the measured run. */
@Tag("slow")
@Timeout(120)
class BenchmarkRunsTest {
  /** Settings in the form in which spark-submit passes them. */
  private static final Map<String, String> PROPERTIES =
      Map.of(
          "spark.master", "local[1]",
          "spark.ui.enabled", "false",
          "spark.driver.host", "127.0.0.1");

  private final Map<String, String> earlier = new HashMap<>();

  @BeforeEach
  void setProperties() {
    PROPERTIES.forEach((key, value) -> earlier.put(key, System.setProperty(key, value)));
  }

  @AfterEach
  void restoreProperties() {
    earlier.forEach(
        (key, value) -> {
          if (value == null) {
            System.clearProperty(key);
          } else {
            System.setProperty(key, value);
          }
        });
  }

  @Test
  void shouldRefuseAWrongAnswerOfAWarmUp() {
    assertThatThrownBy(() -> run(1, List.of(5L, 6L)))
        .isInstanceOf(LaunchException.class)
        .hasMessage(
            "groupby 2x2x4k, round 1, vanilla, warm-up: wrong answer:"
                + " rows=6 digest=ab instead of rows=5 digest=ab");
  }

  /** Its driver is cold, which would count against Spark's own shuffle. */
  @Test
  void shouldBeginSeveralRoundsWithARunThatDoesNotCount() {
    assertThat(plan(2, 1).runs()).isEqualTo((2 + 1) * 2);
    assertThatThrownBy(() -> run(2, List.of(5L, 6L)))
        .hasMessageStartingWith("groupby 2x2x4k, first run, which does not count, warm-up: wrong");
  }

  @Test
  void shouldSumTheRunsOfOneMeasuredRun() {
    RunResult sum =
        BenchmarkReports.run(ShuffleMode.RDMA, 3, 6, 1.5)
            .plus(BenchmarkReports.run(ShuffleMode.RDMA, 3, 5, 0.5));
    assertThat(List.of(sum.seconds(), sum.fetchWaitSeconds(), sum.executorCpuSeconds()))
        .containsExactly(11.0, 2.0, 7.0);
    assertThat(sum.bytes()).isEqualTo(new RunResult.ByPath(2 << 20, 0, 2 << 20));
    assertThat(sum.peakMemoryBytes()).isEqualTo(500L << 20);
  }

  private static BenchmarkPlan plan(int rounds, int warmUps) {
    return new BenchmarkPlan(
        ShuffleJob.GROUPBY,
        List.of("2x2x4k"),
        List.of(ShuffleMode.VANILLA),
        rounds,
        warmUps,
        1,
        "",
        false,
        Map.of());
  }

  /**
   * @param rows number of rows in the answer of each warm-up
   */
  private static void run(int rounds, List<Long> rows) throws Exception {
    List<ComputedAnswer> answers =
        rows.stream()
            .map(count -> ComputedAnswer.of(new ComputedAnswer.Answer(count, "ab")))
            .toList();
    BenchmarkPlan plan = plan(rounds, answers.size());
    new BenchmarkRuns(plan, line -> {}, shape -> new Answers(answers)).run();
  }

  /** A job that only has answers. */
  private record Answers(List<ComputedAnswer> answers, AtomicInteger runs) implements Workload {
    Answers(List<ComputedAnswer> answers) {
      this(answers, new AtomicInteger());
    }

    @Override
    public PendingAnswer run(JavaSparkContext spark, String data) {
      ComputedAnswer answer = answers.get(runs.getAndIncrement());
      return new PendingAnswer(() -> answer);
    }
  }
}
