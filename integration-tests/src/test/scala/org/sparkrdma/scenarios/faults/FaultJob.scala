// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.util.Arrays
import java.util.SplittableRandom

import org.apache.spark.HashPartitioner
import org.apache.spark.SparkContext
import org.sparkrdma.scenarios.PlacedShuffle

/** A shuffle of noise; each bit affects the answer. */
private[faults] final case class FaultJob(maps: Int, reducers: Int, records: Int) {

  /** For each reducer, the number of records and the sum of their hashes.
    *
    * @param location
    *   preferred location of the reducers, in the form of Spark's scheduler
    */
  def run(sc: SparkContext, location: Option[String] = None): Seq[(Int, Long)] = {
    val FaultJob(maps, reducers, records) = this
    val mapped = sc.parallelize(0 until maps, maps).flatMap { map =>
      for (reducer <- Iterator.range(0, reducers); number <- Iterator.range(0, records))
        yield (reducer, FaultJob.noise((map * reducers + reducer) * records + number))
    }
    val partitioner = new HashPartitioner(reducers)
    val shuffled = location match {
      case Some(place) => new PlacedShuffle(mapped, partitioner, place)
      case None        => mapped.partitionBy(partitioner)
    }
    shuffled
      .mapPartitions { fetched =>
        var count = 0
        var total = 0L
        fetched.foreach { case (_, bytes) =>
          count += 1
          total += Arrays.hashCode(bytes)
        }
        Iterator(count -> total)
      }
      .collect()
      .toSeq
  }
}

private[faults] object FaultJob {
  private val RecordBytes = 1_024

  /** Many blocks, in many requests. */
  val Usual: FaultJob = FaultJob(maps = 12, reducers = 12, records = 20)

  private def noise(seed: Int): Array[Byte] = {
    val bytes = new Array[Byte](RecordBytes)
    new SplittableRandom(seed).nextBytes(bytes)
    bytes
  }
}
