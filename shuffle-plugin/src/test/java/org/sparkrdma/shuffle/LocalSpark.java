// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import org.apache.spark.SparkConf;

/** Settings of applications of tests in local mode. */
public final class LocalSpark {
  private LocalSpark() {}

  /** An application without a UI, on the loopback interface, with so many cores. */
  public static SparkConf conf(int cores) {
    return new SparkConf(false)
        .setMaster("local[" + cores + "]")
        .setAppName("test")
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1");
  }
}
