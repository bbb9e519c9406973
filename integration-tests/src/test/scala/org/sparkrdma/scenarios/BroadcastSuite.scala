// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.Random
import java.util.zip.CRC32C

import org.apache.spark.SparkConf
import org.apache.spark.SparkEnv
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.storage.BroadcastBlockId
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/** Broadcast variables along the pipeline; pieces are small, so that small variables are large. */
final class BroadcastSuite extends ScenarioSuite {
  import BroadcastSuite._

  private val Bytes = 3 << 20

  /** Takes so long that an executor is killed midway. */
  private val Large = 48 << 20

  private def conf(mode: String): SparkConf =
    Clusters
      .soft()
      .set("spark.broadcast.blockSize", "64k")
      .set("spark.broadcast.compress", "false")
      .set("spark.shuffle.rdma.broadcast.mode", mode)
      // Spark looks again for the executor that follows a killed one.
      .set("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")

  private def bytes(seed: Int, length: Int = Bytes): Array[Byte] = {
    val all = new Array[Byte](length)
    new Random(seed).nextBytes(all)
    all
  }

  /** Pieces in each executor; READs begin where executors know each other. */
  private def pieces(cluster: SparkCluster, id: Long): Iterable[Int] =
    cluster.onEveryExecutor { () =>
      blocks(id).count(_.field.startsWith("piece"))
    }.values

  private def sums(cluster: SparkCluster, value: Broadcast[Array[Byte]]): Set[Long] =
    cluster.onEveryExecutor(() => sum(value.value)).values.toSet

  /** Variables from before the executors' registration are Torrent's. */
  private def bringByPipeline(cluster: SparkCluster): Unit =
    eventually {
      val value = cluster.sc.broadcast(bytes(3))
      eventually(timeout(Span(2, Seconds))) {
        assert(pieces(cluster, value.id).forall(_ === 49))
      }
      assert(sums(cluster, value) === Set(sum(bytes(3))))
    }

  test("should bring large values by READ, with no other value, and remove them") {
    val cluster = shared(conf("auto"))
    for (seed <- 1 to 5) {
      val wanted = bytes(seed)
      val (_, traffic) = cluster.trafficOf {
        val value = cluster.sc.broadcast(wanted)
        // Before any task asks.
        eventually(assert(pieces(cluster, value.id).forall(_ === 49)))
        assert(sums(cluster, value) === Set(sum(wanted)))
        value.destroy()
        eventually(assert(pieces(cluster, value.id).forall(_ === 0)))
      }
      if (seed > 1) {
        assert(traffic.counter("serve.bytes.copy") > Bytes / 2)
      }
    }
  }

  test("should bring right values while executors are killed") {
    val cluster = shared(conf("auto"))
    bringByPipeline(cluster)
    for (seed <- 11 to 14) {
      // A new executor may be missing yet.
      val processes = eventually {
        val all = cluster.processes()
        assert(all.size === 2)
        all.values.toSeq.sorted
      }
      val wanted = bytes(seed, Large)
      val value = cluster.sc.broadcast(wanted)
      // It is source and target of chunks.
      assert(ProcessHandle.of(processes(seed % 2)).get.destroyForcibly())
      val received = cluster.sc.parallelize(0 until 8, 8).map(_ => sum(value.value)).collect()
      assert(received.toSet === Set(sum(wanted)))
      value.destroy()
    }
  }

  for ((mode, kind, length) <- Seq(("auto", "small", 900 << 10), ("off", "all", Bytes)))
    test(s"should leave $kind values to Torrent in the mode $mode") {
      val cluster = shared(conf(mode))
      val (_, traffic) = cluster.trafficOf {
        assert(
          sums(cluster, cluster.sc.broadcast(bytes(6, length))) === Set(sum(bytes(6, length)))
        )
      }
      assert(traffic.counter("serve.bytes.copy") === 0)
      val threads = cluster.onEveryExecutor { () =>
        val all = new Array[Thread](1000)
        all.take(Thread.enumerate(all)).count(_.getName.startsWith("rdma-broadcast"))
      }
      assert(mode == "auto" || threads.values.toSet === Set(0))
    }

  test("should bring values by TCP in the mode tcp") {
    val cluster = shared(conf("tcp"))
    bringByPipeline(cluster)
    assert(cluster.traffic().counter("serve.bytes.copy") === 0)
  }

  test("should remove values that are destroyed while they come") {
    val cluster = shared(conf("tcp"))
    val wanted = bytes(21, Large)
    val ids = (1 to 20).map { _ =>
      val value = cluster.sc.broadcast(wanted)
      value.destroy()
      value.id
    }
    // The driver waits for ever to remove a piece that a request has left locked.
    eventually(assert(ids.forall(blocks(_).isEmpty)))
    eventually(assert(ids.flatMap(pieces(cluster, _)).forall(_ === 0)))
  }
}

private object BroadcastSuite {

  def sum(all: Array[Byte]): Long = {
    val crc = new CRC32C
    crc.update(all, 0, all.length)
    crc.getValue
  }

  /** Blocks of a variable in this process. */
  def blocks(id: Long): Seq[BroadcastBlockId] =
    SparkEnv.get.blockManager.getMatchingBlockIds(_.isBroadcast).collect {
      case block: BroadcastBlockId if block.broadcastId == id => block
    }
}
