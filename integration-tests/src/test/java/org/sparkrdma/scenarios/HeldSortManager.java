// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.sort.SortShuffleManager;

/** Spark's own manager, held at the end of its stop. */
public final class HeldSortManager extends SortShuffleManager {
  /** Called by Spark. */
  public HeldSortManager(SparkConf conf) {
    super(conf);
  }

  @Override
  public void stop() {
    super.stop();
    HeldEnd.atManagerStop();
  }
}
