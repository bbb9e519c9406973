// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster.job;

import java.util.List;
import java.util.Map;

/**
 * The result of a {@link ClusterJob}.
 *
 * @param answer of its shuffles
 * @param remoteBytes that tasks read from other executors, by Spark's own metrics
 * @param counters of the plug-in, summed over the executors that get tasks
 * @param failedTasks attempts that failed, by the fault of a fetch or of an executor too
 * @param removedExecutors reasons
 * @param removedAtEnd reasons, with those after the job that has the answer
 */
public record JobResult(
    List<String> answer,
    long remoteBytes,
    Map<String, Long> counters,
    int failedTasks,
    List<String> removedExecutors,
    List<String> removedAtEnd) {
  /** Value of a counter; 0 where it does not exist. */
  public long counter(String name) {
    return counters.getOrDefault(name, 0L);
  }
}
