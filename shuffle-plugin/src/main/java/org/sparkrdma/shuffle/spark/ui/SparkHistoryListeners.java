// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark.ui;

import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.status.ElementTrackingStore;

/**
 * The method of Spark's {@code AppHistoryServerPlugin} as Scala 2.12 compiles it, whose Seq is
 * another class. The compiler adds that method to a plug-in that implements this interface too.
 */
public interface SparkHistoryListeners {
  /** Same as in AppHistoryServerPlugin. */
  scala.collection.Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store);
}
