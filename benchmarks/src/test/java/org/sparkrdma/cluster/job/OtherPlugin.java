// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster.job;

import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.shuffle.sort.SortShuffleManager;

/** Sets its own shuffle manager where none is set, as RAPIDS does from Spark 4.0 on. */
public final class OtherPlugin implements SparkPlugin {
  /** Called by Spark. */
  public OtherPlugin() {}

  /** Keeps its map outputs in Spark's own files. */
  public static final class Manager extends SortShuffleManager {
    /** Called by Spark. */
    public Manager(SparkConf conf) {
      super(conf);
    }
  }

  @Override
  public DriverPlugin driverPlugin() {
    return new DriverPlugin() {
      @Override
      public Map<String, String> init(SparkContext starting, PluginContext plugin) {
        SparkConf conf = starting.conf();
        conf.setIfMissing("spark.shuffle.manager", Manager.class.getName());
        return Map.of();
      }
    };
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return null;
  }
}
