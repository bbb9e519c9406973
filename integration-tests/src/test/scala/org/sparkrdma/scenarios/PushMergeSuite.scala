// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import scala.util.Using

import org.apache.spark.SparkConf

/** Push-based shuffle: a service merges the blocks of each reducer. */
final class PushMergeSuite extends ScenarioSuite {
  /* Spark merges what arrives in time (SPARK-30602): a block that comes too late, or while the
   * service appends another one to the same file, is read from its own map output. */
  test("should read the original blocks by READ, and merged chunks from the service by TCP") {
    val conf = pushing(Clusters.soft())
    Using.resource(ShuffleService.start(conf)) { service =>
      conf.set("spark.shuffle.service.port", service.port.toString)
      SparkCluster.runOnTwoHosts(conf, coresEach = 1, MergingClusterManager.PREFIX) { cluster =>
        val shuffled = Jobs.reduced(cluster.sc)
        service.rejectMerged(true)
        val (original, byRead) = cluster.trafficOf(shuffled.collect().toSet)
        assert(original === Jobs.reducedAnswer)
        assert(service.metaAsked > 0)
        assert(service.chunksServed === 0)
        assertAllByRead(byRead)
        assert(byRead.counter("peers.quarantined") === 0, byRead)

        service.rejectMerged(false)
        val (merged, mixed) = cluster.trafficOf(shuffled.collect().toSet)
        assert(merged === Jobs.reducedAnswer)
        assert(service.chunkBytesServed > 0)
        assert(mixed.tcpBytes >= service.chunkBytesServed, mixed)
        assertSameAsSpark(mixed)
        assertNothingRetried(cluster)
      }
    }
  }

  /** Spark enables it on YARN and in its own tests only. */
  private def pushing(conf: SparkConf): SparkConf =
    conf
      .set("spark.testing", "true")
      .set("spark.shuffle.service.enabled", "true")
      .set("spark.shuffle.push.enabled", "true")
      .set("spark.shuffle.push.minShuffleSizeToWait", "1b")
      .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
}
