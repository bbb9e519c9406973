// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import scala.Option;

/** Takes executors out of Spark's scheduling. Stateless. */
final class ExecutorExclusion {
  private ExecutorExclusion() {}

  /**
   * Gives an executor no more tasks. Marks it as decommissioning on the driver only, as if the
   * executor had requested it. The executor does not exit, so neither Spark nor a cluster manager
   * counts a failure or starts a replacement.
   *
   * @return false when Spark has no such executor, or its scheduler cannot do that
   */
  static boolean exclude(SparkContext context, String executorId, String reason) {
    return context.schedulerBackend() instanceof ExecutorAllocationClient client
        && client.decommissionExecutor(
            executorId, new ExecutorDecommissionInfo(reason, Option.empty()), false, true);
  }
}
