// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import scala.reflect.ClassTag

import org.apache.spark.Partition
import org.apache.spark.Partitioner
import org.apache.spark.rdd.RDD
import org.apache.spark.rdd.ShuffledRDD

/** A shuffle whose reducers run on a given executor, so that their blocks are remote. */
private[scenarios] final class PlacedShuffle[K: ClassTag, V: ClassTag](
    parent: RDD[(K, V)],
    partitioner: Partitioner,
    location: String
) extends ShuffledRDD[K, V, V](parent, partitioner) {
  override protected def getPreferredLocations(partition: Partition): Seq[String] = Seq(location)
}
