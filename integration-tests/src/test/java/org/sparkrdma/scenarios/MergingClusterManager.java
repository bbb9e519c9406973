// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.ExternalClusterManager;
import org.apache.spark.scheduler.SchedulerBackend;
import org.apache.spark.scheduler.TaskScheduler;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.cluster.StandaloneSchedulerBackend;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockManagerId$;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A standalone cluster with push-based shuffle, which Spark supports on YARN only. Spark finds it
 * through its ServiceLoader, for masters such as {@code merging:spark://…}.
 */
public final class MergingClusterManager implements ExternalClusterManager {
  /** Prefix of the Master's URL. */
  static final String PREFIX = "merging:";

  /** Host that merges blocks; it has no executors. */
  static final String HOST = "127.0.0.3";

  private static final String PORT_KEY = "spark.shuffle.service.port";

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
    return new Backend((TaskSchedulerImpl) scheduler, context, master.substring(PREFIX.length()));
  }

  @Override
  public void initialize(TaskScheduler scheduler, SchedulerBackend backend) {
    ((TaskSchedulerImpl) scheduler).initialize(backend);
  }

  private static final class Backend extends StandaloneSchedulerBackend {
    private final BlockManagerId merger;

    Backend(TaskSchedulerImpl scheduler, SparkContext context, String master) {
      super(scheduler, context, new String[] {master});
      merger =
          BlockManagerId$.MODULE$.apply(
              BlockManagerId$.MODULE$.SHUFFLE_MERGER_IDENTIFIER(),
              HOST,
              Integer.parseInt(context.getConf().get(PORT_KEY)),
              Option.empty());
    }

    @Override
    public Seq<BlockManagerId> getShufflePushMergerLocations(
        int partitions, int resourceProfileId) {
      return CollectionConverters.asScala(List.of(merger)).toSeq();
    }
  }
}
