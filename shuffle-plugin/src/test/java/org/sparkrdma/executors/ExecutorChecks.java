// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;

/**
 * Starts the leak check of every executor, and counts executors in the driver. Loaded through
 * {@code spark.plugins}; {@link LeakLog} reads the files that it writes.
 */
public final class ExecutorChecks implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return new AddedExecutors();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Check();
  }

  /** The plugin of the driver; called by its listener bus after the start. */
  private static final class AddedExecutors implements DriverPlugin {
    private int executors;

    @Override
    public Map<String, String> init(SparkContext sc, PluginContext context) {
      sc.addSparkListener(
          new SparkListener() {
            @Override
            public void onExecutorAdded(SparkListenerExecutorAdded added) {
              // In local mode the driver is its own executor.
              if (!added.executorId().equals(ProcessName.DRIVER)) {
                executors++;
                ProcessFiles.of(LeakLog.VARIABLE)
                    .write(
                        ProcessName.ofThis(sc.applicationId(), ProcessName.DRIVER),
                        LeakLog.driverText(executors));
              }
            }
          });
      return Map.of();
    }
  }

  /** The plugin of one executor; called when it starts and ends. */
  private static final class Check implements ExecutorPlugin {
    private ExecutorLeaks leaks;

    @Override
    public void init(PluginContext context, Map<String, String> extraConf) {
      // In local mode the application has no name yet.
      ProcessName name =
          ProcessName.ofThis(context.conf().get("spark.app.id", "local"), context.executorID());
      if (!name.isDriver()) {
        leaks = ExecutorLeaks.begin(name, Thread.currentThread().getContextClassLoader());
      }
    }

    /** Spark stops the shuffle manager, which closes everything, after this. */
    @Override
    public void shutdown() {
      if (leaks != null) {
        leaks.judge();
      }
    }
  }
}
