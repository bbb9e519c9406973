// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.connect;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** In place of that of Spark Connect, which the tests do not have; it does nothing. */
public class SparkConnectPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return null;
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return null;
  }
}
