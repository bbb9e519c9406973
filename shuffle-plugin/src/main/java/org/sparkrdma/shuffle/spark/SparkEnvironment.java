// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/** The time from which Spark's environment of an application can be used. Stateless. */
public final class SparkEnvironment {
  private SparkEnvironment() {}

  /**
   * Whether SparkEnv of the application with this configuration is set.
   *
   * <p>Spark 4.0 and newer set it before they create the shuffle manager, Spark 3.5 afterwards. In
   * tests an earlier application of the same JVM may have left its own.
   */
  public static boolean isSetFor(SparkConf conf) {
    SparkEnv env = SparkEnv.get();
    return env != null && env.conf().equals(conf);
  }
}
