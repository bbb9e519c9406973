// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.sparkrdma.scenarios.SparkInternals;

/**
 * Counts the blocks of every executor of a run by transfer. Loaded through {@code spark.plugins};
 * {@link TransferLog} reads the files it writes.
 */
public final class ReadCounts implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return null;
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Counter();
  }

  /** The plugin of one executor; called by its task threads. */
  private static final class Counter implements ExecutorPlugin {
    private Path directory;
    private String name;
    private String written = "";

    @Override
    public void init(PluginContext context, Map<String, String> extraConf) {
      directory = Path.of(System.getenv(TransferLog.VARIABLE));
      long pid = ProcessHandle.current().pid();
      // In local mode the application has no name yet.
      String application = context.conf().get("spark.app.id", "local");
      name = application + "_" + context.executorID() + "_" + pid;
    }

    @Override
    public void onTaskSucceeded() {
      write();
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
      write();
    }

    private synchronized void write() {
      Map<String, Long> counters = SparkInternals.counters();
      String counts =
          counters.getOrDefault("rdma.blocks.read", 0L)
              + " "
              + counters.getOrDefault("tcp.blocks.read", 0L);
      if (!counts.equals(written)) {
        written = counts;
        try {
          // Atomic, because the executor may be killed while it writes.
          Path unfinished =
              Files.writeString(directory.resolve(name + TransferLog.UNFINISHED), counts);
          Files.move(unfinished, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }
}
