// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalatest.concurrent.Eventually
import org.scalatest.time.Millis
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/** Executors whose map outputs an external shuffle service serves as well. */
final class ShuffleServiceSuite extends ScenarioSuite with Eventually {
  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(90, Seconds), interval = Span(200, Millis))

  /** A reader that still has a connection loses it; one with its endpoint cached fails to connect
    * and quarantines it; another finds no endpoint.
    */
  private val ReasonsAfterDeath =
    Set("lost-peer", "connect-failed", "quarantined", "no-endpoint")

  test("should read from a live executor by READ and blocks of a dead one from the service") {
    val conf = Clusters.soft().set("spark.shuffle.service.enabled", "true")
    Using.resource(ShuffleService.start(conf, false)) { service =>
      SparkCluster.run(conf.set("spark.shuffle.service.port", service.port.toString)) { cluster =>
        val reduced = Jobs.reduced(cluster.sc)
        val (first, byRead) = cluster.trafficOf(reduced.collect().toSet)
        assertAllByRead(byRead)
        assert(service.bytesServed === 0)

        replace(cluster, cluster.processes().head)
        val (again, mixed) = cluster.trafficOf(reduced.collect().toSet)
        assert(again === first)
        assert(mixed.rdmaBytes > 0, mixed)
        assert(mixed.tcpBytes > 0, mixed)
        assertSameAsSpark(mixed)
        assert(service.bytesServed === mixed.tcpBytes)
        assert(mixed.fallbacks.keySet.subsetOf(ReasonsAfterDeath), mixed)
        assert(mixed.fallbacks.values.sum === mixed.counter("tcp.blocks.read"), mixed)
        assert(cluster.log.retriedStages === 0, "the outputs of the dead executor are still there")
      }
    }
  }

  private def replace(cluster: SparkCluster, executor: (String, Long)): Unit = {
    val (executorId, pid) = executor
    ProcessHandle.of(pid).ifPresent(process => process.destroyForcibly(): Unit)
    eventually {
      val now = SparkInternals.executorIds(cluster.sc).asScala
      assert(now.size === 2)
      assert(!now.contains(executorId))
    }
  }
}
