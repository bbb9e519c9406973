// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import org.apache.spark.SparkConf;
import org.sparkrdma.shuffle.RdmaShuffleManager;

/** The plug-in's manager, held at the end of its stop. */
public final class HeldRdmaManager extends RdmaShuffleManager {
  /** Called by Spark. */
  public HeldRdmaManager(SparkConf conf, boolean isDriver) {
    super(conf, isDriver);
  }

  @Override
  public void stop() {
    super.stop();
    HeldEnd.atManagerStop();
  }
}
