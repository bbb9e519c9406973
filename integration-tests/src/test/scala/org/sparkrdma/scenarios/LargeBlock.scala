// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.ByteBuffer

import org.apache.spark.HashPartitioner
import org.apache.spark.SparkContext
import org.apache.spark.SparkEnv

/** A shuffle of one map and one reducer: one block of 2.5 GiB with checked records. */
private[scenarios] object LargeBlock {
  private val RecordBytes = 1 << 16
  private val Records = 40_960

  /** Minimum bytes of the block. */
  val Bytes: Long = Records.toLong * RecordBytes

  /** Writes the block on one executor and reads it on the other; returns the number of records and
    * the sum of their values.
    */
  def read(sc: SparkContext, writer: String, reader: String): Seq[(Long, Long)] = {
    val mapped = sc
      .makeRDD(Seq(0 -> Seq(writer)))
      .flatMap(_ => Iterator.tabulate(Records)(i => (0, record(i))))
    new PlacedShuffle(mapped, new HashPartitioner(1), reader)
      .mapPartitions { fetched =>
        var count = 0L
        var total = 0L
        fetched.foreach { case (_, bytes) =>
          count += 1
          total += checked(bytes)
        }
        Iterator(count -> total)
      }
      .collect()
      .toSeq
  }

  /** Location of each of the two executors, as in a task's preferred locations. */
  def locations(sc: SparkContext): (String, String) = {
    val found = sc
      .parallelize(0 until 2, 2)
      .barrier()
      .mapPartitions { _ =>
        val id = SparkEnv.get.blockManager.blockManagerId
        Iterator(s"executor_${id.host}_${id.executorId}")
      }
      .collect()
    (found.head, found.last)
  }

  private def record(number: Int): Array[Byte] = {
    val bytes = new Array[Byte](RecordBytes)
    ByteBuffer.wrap(bytes).putInt(0, number).putInt(RecordBytes - Integer.BYTES, number)
    bytes
  }

  private def checked(bytes: Array[Byte]): Int = {
    val buffer = ByteBuffer.wrap(bytes)
    val number = buffer.getInt(0)
    require(buffer.getInt(bytes.length - Integer.BYTES) == number, "a record is incomplete")
    number
  }
}
