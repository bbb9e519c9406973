// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.{Files, Path}

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.apache.spark.SparkConf
import org.slf4j.LoggerFactory

/** The log of all processes of a run, while this project logs at DEBUG. Confined to one thread. */
private[scenarios] object DebugLog {
  private val Ours = "org.sparkrdma"
  val log: Path = Path.of(sys.env("IT_LOG"))

  /** Executors log at DEBUG from their start on. */
  def setOn(conf: SparkConf): SparkConf =
    conf.set("spark.executor.extraJavaOptions", "-Dit.log.level=debug")

  /** Runs work on a cluster of such a configuration, with the driver at DEBUG too.
    *
    * @return
    *   all lines that were logged meanwhile
    */
  def linesOf(cluster: SparkCluster)(work: => Unit): Seq[String] = {
    Configurator.setLevel(Ours, Level.DEBUG)
    try {
      val isOn = cluster.onEveryExecutor(() => LoggerFactory.getLogger(Ours).isDebugEnabled)
      require(isOn.size == 2 && isOn.values.forall(identity), isOn)
      val length = Files.size(log)
      work
      linesSince(length)
    } finally Configurator.setLevel(Ours, Level.INFO)
  }

  /** All lines that were logged since the log had a length. */
  def linesSince(length: Long): Seq[String] = {
    val bytes = Files.readAllBytes(log)
    new String(bytes, length.toInt, bytes.length - length.toInt, "UTF-8").linesIterator.toSeq
  }
}
