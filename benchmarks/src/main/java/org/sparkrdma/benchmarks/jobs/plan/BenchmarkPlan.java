// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.plan;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.sparkrdma.benchmarks.jobs.workload.Workload;
import org.sparkrdma.launch.DataSize;

/**
 * Jobs, shuffles and number of rounds of one benchmark.
 *
 * @param shapes shapes of the job, run one after the other
 * @param modes shuffles to compare; ratios are to the first
 * @param rounds measured runs under each shuffle
 * @param warmUps runs before each measured one, in the same executors
 * @param concurrent number of jobs that run at once
 * @param data directory for input and output, as Hadoop names it; empty where the job needs none
 * @param command as the user gave it, for the report
 */
public record BenchmarkPlan(
    ShuffleJob job,
    List<String> shapes,
    List<ShuffleMode> modes,
    int rounds,
    int warmUps,
    int concurrent,
    String data,
    String command) {
  /** Logs and copies of jars. */
  private static final long OTHER_BYTES = 300L << 20;

  /** Reports of older versions have no number of jobs at once. */
  public BenchmarkPlan {
    concurrent = Math.max(1, concurrent);
  }

  /** A plan in which one job runs at a time. */
  public BenchmarkPlan(
      ShuffleJob job,
      List<String> shapes,
      List<ShuffleMode> modes,
      int rounds,
      int warmUps,
      String data,
      String command) {
    this(job, shapes, modes, rounds, warmUps, 1, data, command);
  }

  /**
   * The shuffles in the order of one round. Each round begins with another one, so that no shuffle
   * always runs after the same one.
   *
   * @param round from 1
   */
  public List<ShuffleMode> order(int round) {
    List<ShuffleMode> order = new ArrayList<>(modes);
    Collections.rotate(order, 1 - round);
    return order;
  }

  /** The same with another directory. */
  public BenchmarkPlan withData(String newData) {
    return new BenchmarkPlan(job, shapes, modes, rounds, warmUps, concurrent, newData, command);
  }

  /** The same with another number of rounds. */
  public BenchmarkPlan withRounds(int newRounds) {
    return new BenchmarkPlan(job, shapes, modes, newRounds, warmUps, concurrent, data, command);
  }

  /** The job in one shape, as often at once as the plan has it. */
  public Workload workload(String shape) {
    Workload one = job.workload(shape);
    return concurrent == 1 ? one : new ConcurrentRuns(one, concurrent);
  }

  /** Disk space for the largest shape, with the shuffle files of its warm-ups. */
  public DataSize diskSpace() {
    return new DataSize(
        shapes.stream().mapToLong(shape -> workload(shape).diskBytes()).max().orElseThrow()
                * (warmUps + 1)
            + OTHER_BYTES);
  }

  /** Minimum number of tasks of the Spark job with the shuffle, for the first shape. */
  public int shuffleTasks() {
    return workload(shapes.get(0)).tasks();
  }

  /** Total number of runs, warm-ups included. */
  public int runs() {
    return shapes.size() * rounds * modes.size() * (warmUps + 1);
  }
}
