// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.Map;
import org.apache.spark.SparkConf;

/**
 * Settings that every benchmark fixes, so that results can be compared. All other settings are the
 * user's.
 */
public final class FixedSettings {
  private static final Map<String, String> SETTINGS =
      Map.of(
          "spark.serializer", "org.apache.spark.serializer.KryoSerializer",
          "spark.shuffle.compress", "true",
          "spark.io.compression.codec", "lz4",
          // With up to 200 partitions Spark would create a serializer for each block that it
          // writes:
          // about a millisecond each, much more than the block's way to its reader.
          "spark.shuffle.sort.bypassMergeThreshold", "0",
          // Spark runs reducers where a fifth of their input is. With two executors and two jobs at
          // once the bytes that cross the network would then differ by ten times between runs.
          "spark.shuffle.reduceLocality.enabled", "false",
          "spark.speculation", "false",
          // The executors must be the same ones from the warm-up to the end of the measured run.
          "spark.dynamicAllocation.enabled", "false",
          "spark.scheduler.minRegisteredResourcesRatio", "1.0",
          "spark.scheduler.maxRegisteredResourcesWaitingTime", "120s",
          // Joins must shuffle both sides.
          "spark.sql.autoBroadcastJoinThreshold", "-1");

  /** Removed, because the number of cores is read from the value that Spark derives without it. */
  private static final String DEFAULT_PARALLELISM = "spark.default.parallelism";

  private FixedSettings() {}

  /** The settings of one application: the user's, then the fixed ones, then those of the mode. */
  public static SparkConf conf(ShuffleMode mode) {
    SparkConf conf = new SparkConf();
    conf.remove(DEFAULT_PARALLELISM);
    SETTINGS.forEach(conf::set);
    mode.conf().forEach(conf::set);
    return conf;
  }
}
