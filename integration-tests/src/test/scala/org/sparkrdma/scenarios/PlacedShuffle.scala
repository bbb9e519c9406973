/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.scenarios

import scala.reflect.ClassTag

import org.apache.spark.Partition
import org.apache.spark.Partitioner
import org.apache.spark.rdd.RDD
import org.apache.spark.rdd.ShuffledRDD

/** A shuffle whose reducers run on a given executor, so that what they fetch is remote. */
private[scenarios] final class PlacedShuffle[K: ClassTag, V: ClassTag](
    parent: RDD[(K, V)],
    partitioner: Partitioner,
    location: String
) extends ShuffledRDD[K, V, V](parent, partitioner) {
  override protected def getPreferredLocations(partition: Partition): Seq[String] = Seq(location)
}
