// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkConf
import org.sparkrdma.suites.ReadCounts

/** Configurations of clusters that differ only in the shuffle. */
private[scenarios] object Clusters {
  private val Manager = "org.sparkrdma.shuffle.RdmaShuffleManager"

  /** Two executors, each in its own JVM. */
  def master(coresEach: Int): String = s"local-cluster[2,$coresEach,1024]"

  /** Spark without the plug-in, and without executors, which need time to start. */
  def vanilla(cores: Int): SparkConf =
    base(1).setMaster(s"local[$cores]").remove("spark.plugins")

  /** The plug-in on the loopback engine. */
  def soft(coresEach: Int = 1): SparkConf =
    fallback(coresEach)
      .set("spark.shuffle.rdma.engine", "soft")
      .setAll(LongTimeouts.SETTINGS.asScala)

  /** The plug-in on a machine without a device. */
  def fallback(coresEach: Int = 1): SparkConf =
    base(coresEach).set("spark.shuffle.manager", Manager)

  // Without host-local reads: on one host they would leave no remote block.
  private def base(coresEach: Int): SparkConf =
    new SparkConf(false)
      .setMaster(master(coresEach))
      .setAppName("scenario")
      .set("spark.jars", sys.props("it.plugin.jar") + "," + sys.props("it.jobs.jar"))
      .set("spark.plugins", ReadCounts.WITH_CHECKS)
      .set("spark.ui.enabled", "false")
      .set("spark.master.rest.enabled", "false")
      .set("spark.shuffle.readHostLocalDisk", "false")
      .set("spark.sql.warehouse.dir", sys.props("java.io.tmpdir") + "/warehouse")
}
