// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.apache.spark.HashPartitioner
import org.apache.spark.SparkConf
import org.apache.spark.SparkEnv
import org.apache.spark.rdd.RDD
import org.sparkrdma.scenarios.PlacedShuffle
import org.sparkrdma.scenarios.SparkCluster

/** The shuffle of a job whose map tasks all run on one executor and whose reducers run on the
  * other, so that every block is remote. Confined to the test's thread.
  */
private[scenarios] final class OneWayShuffle(cluster: SparkCluster, job: FaultJob) {

  private val hosts =
    cluster.onEveryExecutor(() => SparkEnv.get.blockManager.blockManagerId.host)

  /** Id of the executor that reads. */
  val reader: String = hosts.keys.max

  /** The preferred location of reducers. */
  val readerLocation: String = location(reader)

  /** All partitions, and one without records. */
  val shuffled: RDD[(Int, Array[Byte])] = {
    val mapped = cluster.sc
      .makeRDD(Seq.tabulate(job.maps)(map => map -> Seq(location(hosts.keys.min))))
      .flatMap(OneWayShuffle.recordsOf(job))
    new PlacedShuffle(mapped, new HashPartitioner(job.reducers + 1), readerLocation)
  }

  private def location(id: String): String = s"executor_${hosts(id)}_$id"

  /** Number of blocks of a complete read. */
  def blocks: Int = job.maps * job.reducers

  /** Writes the map outputs: runs a reducer for which there are no records. */
  def write(): Unit =
    require(run(Seq(job.reducers)) == Seq(0 -> 0L), "records without a reducer")

  /** Reads all blocks; writes missing map outputs. The answer is that of `FaultJob.run`. */
  def read(): Seq[(Int, Long)] = run(0 until job.reducers)

  private def run(partitions: Seq[Int]): Seq[(Int, Long)] =
    cluster.sc
      .runJob(
        shuffled,
        (fetched: Iterator[(Int, Array[Byte])]) => FaultJob.summed(fetched),
        partitions
      )
      .toSeq
}

private[scenarios] object OneWayShuffle {

  /** Adds the settings by which Spark waits for the given executors. */
  def placing(conf: SparkConf): SparkConf = conf.set("spark.locality.wait", "60s")

  private def recordsOf(job: FaultJob): Int => Iterator[(Int, Array[Byte])] =
    map => job.recordsOf(map)
}
