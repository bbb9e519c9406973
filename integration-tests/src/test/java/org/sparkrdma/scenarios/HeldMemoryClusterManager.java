// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExternalClusterManager;
import org.apache.spark.scheduler.SchedulerBackend;
import org.apache.spark.scheduler.TaskScheduler;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.cluster.StandaloneSchedulerBackend;

/**
 * A standalone cluster that the plug-in takes for YARN, which holds executors to memoryOverhead.
 * Spark finds it through its ServiceLoader, for masters such as {@code yarn:spark://…}.
 */
public class HeldMemoryClusterManager implements ExternalClusterManager {
  /** Prefix of the Master's URL. */
  static final String PREFIX = "yarn:";

  @Override
  public boolean canCreate(String master) {
    return master.startsWith(PREFIX);
  }

  @Override
  public TaskScheduler createTaskScheduler(SparkContext context, String master) {
    return new TaskSchedulerImpl(context);
  }

  @Override
  public SchedulerBackend createSchedulerBackend(
      SparkContext context, String master, TaskScheduler scheduler) {
    return new StandaloneSchedulerBackend(
        (TaskSchedulerImpl) scheduler, context, new String[] {master.substring(PREFIX.length())});
  }

  @Override
  public void initialize(TaskScheduler scheduler, SchedulerBackend backend) {
    ((TaskSchedulerImpl) scheduler).initialize(backend);
  }
}
