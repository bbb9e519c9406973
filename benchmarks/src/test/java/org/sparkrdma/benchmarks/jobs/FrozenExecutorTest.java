// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.TaskState;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;
import org.sparkrdma.cluster.LaunchException;

/** With a process in place of an executor. */
@Timeout(60)
class FrozenExecutorTest {
  private static final RunResult.ByPath AFTER = new RunResult.ByPath(7, 0, 7);

  private Process executor;
  private FrozenExecutor frozen;

  @BeforeEach
  void start() throws IOException {
    executor = new ProcessBuilder("sleep", "600").start();
    frozen = new FrozenExecutor(executor.pid(), 1);
  }

  @AfterEach
  void end() throws InterruptedException {
    executor.destroyForcibly().waitFor();
  }

  @Test
  void shouldStopItForAWhileWhenItsFirstTaskHasReadAndSumTheOthersTasks() throws Exception {
    frozen.onTaskEnd(end("0", 100, 0, 0));
    frozen.onTaskEnd(end("1", 2_000, 5, 300));
    assertThat(isStopped()).isFalse();
    frozen.onTaskEnd(end("0", 9_000, 5, 8_000));
    while (!isStopped()) {
      Thread.onSpinWait();
    }
    frozen.onTaskEnd(end("0", 9_000, 5, 8_000));
    frozen.onTaskEnd(end("2", 1_500, 5, 700));
    assertThat(frozen.result(AFTER)).isEqualTo(new RunResult.Frozen(3.5, 1, AFTER));
    assertThat(isStopped()).isFalse();
  }

  @Test
  void shouldRefuseARunInWhichItDidNotStop() throws Exception {
    frozen.onTaskEnd(end("1", 2_000, 5, 300));
    assertThatThrownBy(() -> frozen.result(null)).isInstanceOf(LaunchException.class);
    executor.destroyForcibly().waitFor();
    frozen.onTaskEnd(end("0", 2_000, 5, 300));
    assertThatThrownBy(() -> frozen.result(null)).isInstanceOf(LaunchException.class);
  }

  /** The letter T after the name, see proc_pid_stat(5). */
  private boolean isStopped() throws IOException {
    return Files.readString(Path.of("/proc/" + executor.pid() + "/stat")).contains(") T ");
  }

  private static SparkListenerTaskEnd end(String executorId, long ms, int blocks, long waitMs) {
    TaskMetrics metrics = new TaskMetrics();
    metrics.shuffleReadMetrics().incRemoteBlocksFetched(blocks);
    metrics.shuffleReadMetrics().incFetchWaitTime(waitMs);
    TaskInfo task = new TaskInfo(1, 1, 1, 1, 1_000, executorId, "host", TaskLocality.ANY(), false);
    task.markFinished(TaskState.FINISHED(), 1_000 + ms);
    return new SparkListenerTaskEnd(1, 0, "ResultTask", null, task, new ExecutorMetrics(), metrics);
  }
}
