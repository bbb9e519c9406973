// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkConf
import org.scalatest.BeforeAndAfterAll
import org.scalatest.Tag
import org.scalatest.concurrent.Eventually
import org.scalatest.concurrent.Signaler
import org.scalatest.concurrent.ThreadSignaler
import org.scalatest.concurrent.TimeLimitedTests
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.Millis
import org.scalatest.time.Minutes
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/** A test of the nightly run; a daily test of the same kind stays. */
private[scenarios] object Nightly extends Tag("nightly")

/** Base of the scenarios: a time limit for each test, patience, a cluster that several tests share,
  * and checks of byte counts.
  */
private[scenarios] abstract class ScenarioSuite
    extends AnyFunSuite
    with TimeLimitedTests
    with BeforeAndAfterAll
    with Eventually {

  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(90, Seconds), interval = Span(100, Millis))

  override def timeLimit: Span = Span(10, Minutes)

  override val defaultTestSignaler: Signaler = ThreadSignaler

  private var kept: Option[(Map[String, String], SparkCluster)] = None

  override def afterAll(): Unit =
    try closeShared()
    finally super.afterAll()

  /** The cluster of this configuration, which tests share that follow each other. */
  protected def shared(conf: SparkConf): SparkCluster = {
    val settings = conf.getAll.toMap
    if (!kept.exists(_._1 == settings)) {
      closeShared()
      kept = Some(settings -> SparkCluster.start(conf))
    }
    kept.get._2
  }

  private def closeShared(): Unit = {
    kept.foreach(_._2.close())
    kept = None
  }

  /** Runs work and returns its result and its seconds. */
  protected def timed[T](work: => T): (T, Double) = {
    val beginNs = System.nanoTime()
    val result = work
    (result, (System.nanoTime() - beginNs) / 1e9)
  }

  /** Asserts that every remote byte came by READ and that Spark counted the same bytes. */
  protected def assertAllByRead(traffic: Traffic): Unit = {
    assertNothingByTcp(traffic)
    assertSameAsSpark(traffic)
  }

  /** Asserts that remote bytes came by READ only. */
  protected def assertNothingByTcp(traffic: Traffic): Unit = {
    assert(traffic.fallbacks.isEmpty, traffic)
    assert(traffic.rdmaBytes > 0, traffic)
    assert(traffic.tcpBytes === 0, traffic)
  }

  /** Asserts that the plug-in's counters equal the task metrics of Spark. */
  protected def assertSameAsSpark(traffic: Traffic): Unit =
    assert(traffic.rdmaBytes + traffic.tcpBytes === traffic.remoteBytesRead, traffic)

  /** Waits until Spark has replaced an executor of these. */
  protected def awaitOtherExecutor(cluster: SparkCluster, before: Set[String]): Unit =
    eventually {
      val now = SparkInternals.executorIds(cluster.sc).asScala.toSet
      assert(now.size === before.size && now != before)
    }

  /** Asserts that no task failed and no stage was retried. */
  protected def assertNothingRetried(cluster: SparkCluster): Unit = {
    SparkInternals.drainListeners(cluster.sc)
    assert(cluster.log.failedTasks === 0)
    assert(cluster.log.retriedStages === 0)
  }
}
