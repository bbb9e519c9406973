// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.Map;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.benchmarks.jobs.workload.Answer;

/**
 * One measured run.
 *
 * @param round from 1
 * @param seconds wall time of the job
 * @param fetchWaitSeconds time that tasks waited for remote blocks, summed over tasks, as Spark
 *     counts it
 * @param executorCpuSeconds CPU time of all executor processes during the job
 * @param gcSeconds time that the executors' garbage collectors ran
 * @param gcPauses pauses of each executor for garbage collections during the job, by executor id
 * @param peakMemoryBytes largest resident memory of any executor since it started
 * @param fallbacks blocks or reads that used TCP under the plug-in, by reason
 * @param memoryWaits blocks that waited for receive memory, by the upper limit of the time, and
 *     {@code late} where the agent did not run before the end of the wait
 * @param copiedBlocks blocks copied to the heap because receive memory was short; null in reports
 *     of older versions, which did not count them
 * @param querySeconds wall time of each query, of a job that consists of queries; else empty
 */
public record RunResult(
    ShuffleMode mode,
    int round,
    int executors,
    double seconds,
    double fetchWaitSeconds,
    double executorCpuSeconds,
    double gcSeconds,
    Map<String, GcPauses> gcPauses,
    long peakMemoryBytes,
    ByPath bytes,
    ByPath blocks,
    Map<String, Long> fallbacks,
    Map<String, Long> memoryWaits,
    Long copiedBlocks,
    Answer answer,
    Map<String, Double> querySeconds) {
  /** Reports of older versions have no pauses, waits or times of queries. */
  public RunResult {
    gcPauses = gcPauses == null ? Map.of() : gcPauses;
    querySeconds = querySeconds == null ? Map.of() : querySeconds;
    memoryWaits = memoryWaits == null ? Map.of() : memoryWaits;
  }

  /**
   * Pauses of one executor.
   *
   * @param longestMs in whole milliseconds; 0 without any pause
   */
  public record GcPauses(long count, int longestMs) {}

  /** Bytes or blocks that tasks read in shuffles by RDMA READ, by TCP and locally. */
  public record ByPath(long read, long tcp, long local) {}
}
