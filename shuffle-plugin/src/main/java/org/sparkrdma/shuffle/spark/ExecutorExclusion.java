/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.spark;

import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import scala.Option;

/** Takes executors out of Spark's scheduling. Stateless. */
public final class ExecutorExclusion {
  private ExecutorExclusion() {}

  /**
   * Gives an executor no more tasks. It is marked as decommissioning on the driver alone, as if it
   * had asked for that itself: nobody tells it to exit, so neither Spark nor a cluster manager
   * counts a failure, and none starts another in its place.
   *
   * @return false when Spark has no such executor, or its scheduler cannot do that
   */
  public static boolean exclude(SparkContext context, String executorId, String reason) {
    return context.schedulerBackend() instanceof ExecutorAllocationClient client
        && client.decommissionExecutor(
            executorId, new ExecutorDecommissionInfo(reason, Option.empty()), false, true);
  }
}
