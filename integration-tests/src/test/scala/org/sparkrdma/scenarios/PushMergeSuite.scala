// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import scala.util.Using

import org.apache.spark.SparkConf

/** Push-based shuffle: a service merges the blocks of each reducer. */
final class PushMergeSuite extends ScenarioSuite {
  /* Spark merges what arrives in time (SPARK-30602): a block that comes too late, or while the
   * service appends another one to the same file, is read from its own map output. */
  test("should fetch merged chunks from the service by TCP") {
    pushed(rejectsMerged = false) { (traffic, service) =>
      assert(service.chunkBytesServed > 0)
      assert(traffic.tcpBytes >= service.chunkBytesServed, traffic)
      assert(traffic.rdmaBytes + traffic.tcpBytes === traffic.remoteBytesRead, traffic)
    }
  }

  test("should read the original blocks by READ when merged blocks are not available") {
    pushed(rejectsMerged = true) { (traffic, service) =>
      assert(service.metaAsked > 0)
      assert(service.chunksServed === 0)
      assertAllByRead(traffic)
      assert(traffic.counter("peers.quarantined") === 0, traffic)
    }
  }

  private def pushed(rejectsMerged: Boolean)(check: (Traffic, ShuffleService) => Unit): Unit = {
    val expected = VanillaAnswers.reduced
    val conf = pushing(Clusters.soft())
    Using.resource(ShuffleService.start(conf, rejectsMerged)) { service =>
      conf.set("spark.shuffle.service.port", service.port.toString)
      SparkCluster.runOnTwoHosts(conf, coresEach = 1, MergingClusterManager.PREFIX) { cluster =>
        val (result, traffic) = cluster.trafficOf(Jobs.reduced(cluster.sc).collect().toSet)
        assert(result === expected)
        check(traffic, service)
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
