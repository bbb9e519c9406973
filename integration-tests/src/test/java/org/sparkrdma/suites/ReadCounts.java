// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.sparkrdma.executors.ExecutorChecks;
import org.sparkrdma.executors.ProcessFiles;
import org.sparkrdma.executors.ProcessName;
import org.sparkrdma.scenarios.SparkInternals;

/**
 * Counts the blocks of every executor of a run by transfer, and in the driver the remote blocks
 * that Spark's own metrics report, whichever reader has fetched them. Loaded through {@code
 * spark.plugins}; {@link TransferLog} reads the files it writes.
 */
public final class ReadCounts implements SparkPlugin {
  /** Value of {@code spark.plugins}: this class and the checks of executors. */
  public static final String WITH_CHECKS =
      ReadCounts.class.getName() + "," + ExecutorChecks.class.getName();

  @Override
  public DriverPlugin driverPlugin() {
    return new RemoteBlocks();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Counter();
  }

  /** The plugin of the driver; called by its listener bus after the start. */
  private static final class RemoteBlocks implements DriverPlugin {
    private long blocks;

    @Override
    public Map<String, String> init(SparkContext sc, PluginContext context) {
      sc.addSparkListener(
          new SparkListener() {
            @Override
            public void onTaskEnd(SparkListenerTaskEnd end) {
              TaskMetrics metrics = end.taskMetrics();
              if (metrics != null && metrics.shuffleReadMetrics().remoteBlocksFetched() > 0) {
                blocks += metrics.shuffleReadMetrics().remoteBlocksFetched();
                ProcessFiles.of(TransferLog.VARIABLE)
                    .write(
                        ProcessName.ofThis(sc.applicationId(), ProcessName.DRIVER),
                        "0 0 " + blocks);
              }
            }
          });
      return Map.of();
    }
  }

  /** The plugin of one executor; called by its task threads, and when it ends. */
  private static final class Counter implements ExecutorPlugin {
    private ProcessName name;
    private String written = "";

    @Override
    public void init(PluginContext context, Map<String, String> extraConf) {
      // In local mode the application has no name yet.
      name = ProcessName.ofThis(context.conf().get("spark.app.id", "local"), context.executorID());
    }

    @Override
    public void onTaskSucceeded() {
      writeCounts();
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
      writeCounts();
    }

    private synchronized void writeCounts() {
      Map<String, Long> counters = SparkInternals.counters();
      String counts =
          counters.getOrDefault("rdma.blocks.read", 0L)
              + " "
              + counters.getOrDefault("tcp.blocks.read", 0L);
      if (!counts.equals(written)) {
        written = counts;
        ProcessFiles.of(TransferLog.VARIABLE).write(name, counts);
      }
    }
  }
}
