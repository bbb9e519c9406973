// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster.job;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** Another plug-in, which does nothing. */
public final class IdlePlugin implements SparkPlugin {
  /** Called by Spark. */
  public IdlePlugin() {}

  @Override
  public DriverPlugin driverPlugin() {
    return null;
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return null;
  }
}
