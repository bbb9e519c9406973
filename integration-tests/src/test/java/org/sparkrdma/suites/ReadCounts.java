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
package org.sparkrdma.suites;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.sparkrdma.leak.LeakRecord;
import org.sparkrdma.scenarios.SparkInternals;

/**
 * Counts the blocks of every executor of a run by way of transfer, and looks for leaks when the
 * executor ends. Named by {@code spark.plugins}; {@link TransferLog} reads the files it writes.
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

  /** Of one executor; called by its task threads. */
  private static final class Counter implements ExecutorPlugin {
    private static final long CLOSE_SECONDS = 5;

    private final AtomicInteger runningTasks = new AtomicInteger();
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
      if (!context.executorID().equals("driver")) {
        Runtime.getRuntime().addShutdownHook(new Thread(this::lookForLeaks, "leak-check"));
      }
    }

    @Override
    public void onTaskStart() {
      runningTasks.incrementAndGet();
    }

    @Override
    public void onTaskSucceeded() {
      runningTasks.decrementAndGet();
      write();
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
      runningTasks.decrementAndGet();
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
        write(TransferLog.COUNTS, counts);
      }
    }

    private void write(String kind, String text) {
      try {
        Files.writeString(directory.resolve(name + kind), text);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** A task that still runs may hold blocks, so only an executor without tasks is checked. */
    private void lookForLeaks() {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
      while (!LeakRecord.outstanding().isEmpty() && System.nanoTime() < deadline) {
        Thread.onSpinWait();
      }
      List<LeakRecord> left = LeakRecord.outstanding();
      if (!left.isEmpty() && runningTasks.get() == 0) {
        write(TransferLog.LEAKS, left.get(0).site() + " and " + (left.size() - 1) + " more");
      }
    }
  }
}
