// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.apache.spark.SparkConf

/** The application for spark-submit: a shuffle, and one line with its result. */
object DeliveredJob {
  private val Maps = 6
  private val Reducers = 6
  private val Marker = "DELIVERED "

  def main(arguments: Array[String]): Unit =
    SparkCluster.run(new SparkConf()) { cluster =>
      val (result, traffic) = cluster.trafficOf(Jobs.smallBlocks(cluster.sc, Maps, Reducers))
      require(result == Seq.fill(Reducers)(Maps -> Maps * (Maps - 1) / 2), result)
      println(s"$Marker${traffic.rdmaBytes} ${traffic.tcpBytes} ${traffic.remoteBytesRead}")
    }

  /** Bytes by READ, bytes by TCP through the plug-in, and Spark's count of remote bytes. */
  private[scenarios] def parse(output: String): Option[(Long, Long, Long)] =
    output.linesIterator.find(_.startsWith(Marker)).map { line =>
      val numbers = line.stripPrefix(Marker).split(" ").map(_.toLong)
      (numbers(0), numbers(1), numbers(2))
    }
}
