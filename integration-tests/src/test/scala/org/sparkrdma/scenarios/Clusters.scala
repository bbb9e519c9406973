// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkConf

/** Configurations of clusters that differ in nothing but the shuffle. */
private[scenarios] object Clusters {
  private val Manager = "org.sparkrdma.shuffle.RdmaShuffleManager"

  /** Two executors in JVMs of their own. */
  def master(coresEach: Int): String = s"local-cluster[2,$coresEach,1024]"

  /** Spark as it is. */
  def vanilla(coresEach: Int = 1): SparkConf = base(coresEach).set("spark.shuffle.manager", "sort")

  /** The plug-in on the loopback engine. */
  def soft(coresEach: Int = 1): SparkConf =
    fallback(coresEach)
      .set("spark.shuffle.rdma.engine", "soft")
      .setAll(PatientTimeouts.SETTINGS.asScala)

  /** The plug-in where no device is. */
  def fallback(coresEach: Int = 1): SparkConf =
    base(coresEach).set("spark.shuffle.manager", Manager)

  // Without host-local reads, which on one host would leave a transport nothing to do.
  private def base(coresEach: Int): SparkConf =
    new SparkConf(false)
      .setMaster(master(coresEach))
      .setAppName("scenario")
      .set("spark.jars", sys.props("it.plugin.jar") + "," + sys.props("it.jobs.jar"))
      .set("spark.plugins", "org.sparkrdma.suites.ReadCounts")
      .set("spark.ui.enabled", "false")
      .set("spark.master.rest.enabled", "false")
      .set("spark.shuffle.readHostLocalDisk", "false")
      .set("spark.sql.warehouse.dir", sys.props("java.io.tmpdir") + "/warehouse")
}
