// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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
import org.sparkrdma.scenarios.SparkInternals;

/**
 * Counts the blocks of every executor of a run by transfer, and in the driver the remote blocks
 * that Spark's own metrics report, whichever reader has fetched them. Loaded through {@code
 * spark.plugins}; {@link TransferLog} reads the files it writes.
 */
public final class ReadCounts implements SparkPlugin {
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
                write(name(sc.applicationId(), "driver"), "0 0 " + blocks);
              }
            }
          });
      return Map.of();
    }
  }

  private static String name(String application, String executorId) {
    return application + "_" + executorId + "_" + ProcessHandle.current().pid();
  }

  private static void write(String name, String counts) {
    Path directory = Path.of(System.getenv(TransferLog.VARIABLE));
    try {
      // Atomic, because the process may be killed while it writes.
      Path unfinished = Files.writeString(directory.resolve(name + TransferLog.UNFINISHED), counts);
      Files.move(unfinished, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The plugin of one executor; called by its task threads. */
  private static final class Counter implements ExecutorPlugin {
    private String name;
    private String written = "";

    @Override
    public void init(PluginContext context, Map<String, String> extraConf) {
      // In local mode the application has no name yet.
      name = name(context.conf().get("spark.app.id", "local"), context.executorID());
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
        write(name, counts);
      }
    }
  }
}
