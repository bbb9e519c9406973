// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.Map;
import org.sparkrdma.cluster.ClusterSettings;

/**
 * Size of each of the two executors of a cluster of {@code ./bench}.
 *
 * @param threads task threads, at least 1
 */
public record ExecutorSize(int threads) {
  private static final int EXECUTORS = 2;
  private static final int MIN_HEAP_MIB = 1_024;
  private static final int HEAP_MIB_PER_THREAD = 256;

  private int heapMib() {
    return Math.max(MIN_HEAP_MIB, threads * HEAP_MIB_PER_THREAD);
  }

  /** Workers that hold one such executor each. */
  public ClusterSettings workers(ClusterSettings settings) {
    return settings.withWorkerSize(threads, heapMib());
  }

  /** Settings of the application. */
  public Map<String, String> conf() {
    return Map.of(
        "spark.executor.cores", Integer.toString(threads),
        "spark.executor.memory", heapMib() + "m",
        "spark.cores.max", Integer.toString(EXECUTORS * threads));
  }
}
