// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.util.Arrays
import java.util.SplittableRandom

import org.apache.spark.HashPartitioner
import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.sparkrdma.scenarios.PlacedShuffle

/** A shuffle of noise; each bit affects the answer. */
private[scenarios] final case class FaultJob(maps: Int, reducers: Int, records: Int) {

  /** Returns for each reducer the number of records and the sum of their hashes.
    *
    * @param location
    *   preferred location of the reducers, in the form of Spark's scheduler
    */
  def run(sc: SparkContext, location: Option[String] = None): Seq[(Int, Long)] =
    FaultJob.answer(shuffled(sc, location))

  /** The shuffle, which may be read several times. */
  def shuffled(sc: SparkContext, location: Option[String] = None): RDD[(Int, Array[Byte])] = {
    val mapped = sc.parallelize(0 until maps, maps).flatMap(recordsOf)
    val partitioner = new HashPartitioner(reducers)
    location match {
      case Some(place) => new PlacedShuffle(mapped, partitioner, place)
      case None        => mapped.partitionBy(partitioner)
    }
  }

  /** The answer, computed without Spark. */
  def expected: Seq[(Int, Long)] = {
    val records = (0 until maps).flatMap(recordsOf).groupMap(_._1)(_._2)
    (0 until reducers).map(reducer => FaultJob.summed(records(reducer).iterator.map(reducer -> _)))
  }

  /** The records that a map task writes. */
  def recordsOf(map: Int): Iterator[(Int, Array[Byte])] =
    for (reducer <- Iterator.range(0, reducers); number <- Iterator.range(0, records))
      yield (reducer, FaultJob.noise((map * reducers + reducer) * records + number))
}

private[scenarios] object FaultJob {
  private val RecordBytes = 1_024

  /** Many blocks, in many requests. */
  val Usual: FaultJob = FaultJob(maps = 12, reducers = 12, records = 20)

  /** More blocks, for faults that take longer than a moment. */
  val Many: FaultJob = FaultJob(maps = 24, reducers = 48, records = 20)

  /** Returns for each partition the number of records and the sum of their hashes. */
  def answer(shuffled: RDD[(Int, Array[Byte])]): Seq[(Int, Long)] =
    shuffled
      .mapPartitions(fetched => Iterator(summed(fetched)))
      .collect()
      .toSeq

  /** A record of noise with a key of noise. */
  def record(seed: Int): (Int, Array[Byte]) = {
    val bytes = noise(seed)
    (Arrays.hashCode(bytes), bytes)
  }

  /** The number of records and the sum of their hashes. */
  def summed(fetched: Iterator[(Int, Array[Byte])]): (Int, Long) = {
    var count = 0
    var total = 0L
    fetched.foreach { case (_, bytes) =>
      count += 1
      total += Arrays.hashCode(bytes)
    }
    count -> total
  }

  private def noise(seed: Int): Array[Byte] = {
    val bytes = new Array[Byte](RecordBytes)
    new SplittableRandom(seed).nextBytes(bytes)
    bytes
  }
}
