// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.Map;

/**
 * One measured run.
 *
 * @param round from 1
 * @param seconds wall time of the job
 * @param fetchWaitSeconds time that tasks waited for remote blocks, summed over tasks, as Spark
 *     counts it
 * @param executorCpuSeconds CPU time of all executor processes during the job
 * @param gcSeconds time that the executors' garbage collectors ran
 * @param peakMemoryBytes largest resident memory of any executor since it started
 * @param fallbacks blocks or reads that used TCP under the plug-in, by reason
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
    long peakMemoryBytes,
    ByPath bytes,
    ByPath blocks,
    Map<String, Long> fallbacks,
    Answer answer,
    Map<String, Double> querySeconds) {
  /** Reports of older versions have no times of queries. */
  public RunResult {
    querySeconds = querySeconds == null ? Map.of() : querySeconds;
  }

  /** Bytes or blocks that tasks read in shuffles by RDMA READ, by TCP and locally. */
  public record ByPath(long read, long tcp, long local) {}
}
