// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.shuffle.rdma;

import org.apache.spark.SparkConf;

/**
 * SparkRDMA's name of the shuffle manager, so that its users need not change {@code
 * spark.shuffle.manager}. Adds nothing to the class that it extends.
 *
 * <p>In Spark's package because SparkRDMA's class was.
 */
public final class RdmaShuffleManager extends org.sparkrdma.shuffle.RdmaShuffleManager {
  /** Called by Spark; see the superclass. */
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    super(conf, isDriver);
  }
}
