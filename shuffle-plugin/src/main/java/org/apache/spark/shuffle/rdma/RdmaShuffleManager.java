// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.shuffle.rdma;

import org.apache.spark.SparkConf;

/**
 * SparkRDMA's name of {@link org.sparkrdma.shuffle.RdmaShuffleManager}, which has all of the code:
 * an alias, so that its users need not change {@code spark.shuffle.manager}.
 *
 * <p>In Spark's package because SparkRDMA's class was.
 */
public final class RdmaShuffleManager extends org.sparkrdma.shuffle.RdmaShuffleManager {
  /** Called by Spark; see the superclass. */
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    super(conf, isDriver);
  }
}
