// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.history;

import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.status.ElementTrackingStore;

/**
 * The method of Spark's interface as Scala 2.12 compiles it, whose Seq is another class; the
 * compiler adds that method to {@link RdmaHistoryPlugin}.
 */
interface SparkHistoryListeners {
  /** As in AppHistoryServerPlugin. */
  scala.collection.Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store);
}
