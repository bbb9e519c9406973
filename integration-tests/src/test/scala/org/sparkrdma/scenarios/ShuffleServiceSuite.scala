// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.locks.LockSupport

import scala.concurrent.Await
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.concurrent.duration.Duration
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.HashPartitioner
import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.scalatest.concurrent.Eventually
import org.scalatest.time.Millis
import org.scalatest.time.Seconds
import org.scalatest.time.Span
import org.sparkrdma.scenarios.faults.FaultJob

/** Executors whose map outputs an external shuffle service serves as well. */
final class ShuffleServiceSuite extends ScenarioSuite with Eventually {
  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(90, Seconds), interval = Span(200, Millis))

  private val Executors = 4

  /** Part of the bytes of ended executors that must come by READ. */
  private val ByRead = 0.9

  /** No endpoint at first, because the new executor may not have started RDMA; and of those that
    * meet the end of an executor.
    */
  private val ReasonsAfterDeath =
    Set("lost-peer", "connect-failed", "no-endpoint")

  private lazy val expected = FaultJob.vanillaAnswer(FaultJob.Usual)

  test("should read blocks of a dead executor from a live one on its host or from the service") {
    val conf = Clusters.soft().set("spark.shuffle.service.enabled", "true")
    Using.resource(ShuffleService.start(conf, false)) { service =>
      SparkCluster.run(conf.set("spark.shuffle.service.port", service.port.toString)) { cluster =>
        val reduced = Jobs.reduced(cluster.sc)
        val (first, byRead) = cluster.trafficOf(reduced.collect().toSet)
        assertAllByRead(byRead)
        assert(service.bytesServed === 0)
        assert(service.directoriesAsked === 0, "no executor has ended")

        replace(cluster, cluster.processes().head)
        val (again, mixed) = cluster.trafficOf(reduced.collect().toSet)
        assert(again === first)
        assert(mixed.counter("ended.bytes.read") > 0, mixed)
        assertSameAsSpark(mixed)
        assert(service.bytesServed === mixed.tcpBytes)
        assert(mixed.fallbacks.keySet.subsetOf(ReasonsAfterDeath), mixed)
        assert(mixed.fallbacks.values.sum === mixed.counter("tcp.blocks.read"), mixed)
        assert(mixed.counter("peers.quarantined") === 0, mixed)
        assert(cluster.log.retriedStages === 0, "the outputs of the dead executor are still there")
      }
    }
  }

  test("should read blocks of executors that dynamic allocation has ended by READ") {
    allocated() { (cluster, service, shuffled) =>
      // As a standalone Worker does.
      endedFiles(cluster).filter(_.toString.contains(".checksum.")).foreach(Files.delete)
      // Each collect is a new stage, which reads the same map outputs.
      for (_ <- 1 to 5) {
        assert(FaultJob.answer(shuffled) === expected)
      }
      val read = cluster.answering()
      val ended = read.counter("ended.bytes.read")
      assert(ended > 0, read)
      assert(service.bytesServed <= (1 - ByRead) * (ended + service.bytesServed), read)
      assert(read.counter("verify.unverified") === 0, read)
      assert(read.counter("peers.quarantined") === 0, read)
      assertNothingRetried(cluster)
    }
  }

  test("should give the vanilla answer when the service never names directories") {
    allocated() { (cluster, service, shuffled) =>
      service.nameNoDirectories()
      val (answer, seconds) = timed(FaultJob.answer(shuffled))
      assert(answer === expected)
      assert(service.directoriesAsked > 0)
      assert(cluster.answering().counter("ended.bytes.read") === 0)
      assert(service.bytesServed > 0)
      assert(seconds < 60)
      assertNothingRetried(cluster)
    }
  }

  test("should need the service once, and without it recompute as Spark does") {
    allocated() { (cluster, service, shuffled) =>
      assert(FaultJob.answer(shuffled) === expected)
      service.close()
      val before = cluster.answering().counter("ended.bytes.read")
      assert(FaultJob.answer(shuffled) === expected)
      assert(cluster.answering().counter("ended.bytes.read") > before)
      assertNothingRetried(cluster)
    }
    allocated() { (cluster, service, shuffled) =>
      service.close()
      assert(FaultJob.answer(shuffled) === expected)
      assert(cluster.log.retriedStages > 0)
    }
  }

  test("should give the vanilla answer when files of ended executors are gone or unreadable") {
    allocated() { (cluster, _, shuffled) =>
      // Spark computes again what the service cannot send.
      val files = endedFiles(cluster).filter(_.toString.endsWith(".data"))
      assert(files.nonEmpty)
      files.take(1).foreach(Files.delete)
      files.slice(1, 2).foreach(file => file.toFile.setReadable(false, false): Unit)
      assert(FaultJob.answer(shuffled) === expected)
    }
  }

  test("should give the vanilla answer when the stand-in is killed while it serves") {
    allocated() { (cluster, _, shuffled) =>
      val pid = cluster.sc
        .parallelize(Seq(0), 1)
        .map(_ => ProcessHandle.current().pid())
        .collect()
        .head
      cluster.sc.addSparkListener(new ExecutorKiller(pid, afterReducers = 2))
      assert(FaultJob.answer(shuffled) === expected)
      assert(FaultJob.answer(shuffled) === expected)
    }
  }

  /** Runs a job's map stage on four executors, of which dynamic allocation ends two. */
  private def allocated()(
      body: (SparkCluster, ShuffleService, RDD[(Int, Array[Byte])]) => Unit
  ): Unit = {
    assert(expected.nonEmpty)
    val conf = Clusters
      .soft()
      .setMaster(s"local-cluster[$Executors,1,1024]")
      .set("spark.shuffle.service.enabled", "true")
      .set("spark.shuffle.io.retryWait", "1s")
      .set("spark.dynamicAllocation.enabled", "true")
      .set("spark.dynamicAllocation.initialExecutors", Executors.toString)
      .set("spark.dynamicAllocation.maxExecutors", Executors.toString)
      .set("spark.dynamicAllocation.minExecutors", "2")
      .set("spark.dynamicAllocation.executorIdleTimeout", "1s")
      // Those that have ended are not replaced during a test.
      .set("spark.dynamicAllocation.schedulerBacklogTimeout", "10min")
    Using.resource(ShuffleService.start(conf, false)) { service =>
      conf.set("spark.shuffle.service.port", service.port.toString)
      Using.resource(SparkCluster.start(conf, 1)) { cluster =>
        val begin = Files.createTempFile("maps", ".begin")
        Files.delete(begin)
        val shuffled = ShuffleServiceSuite.heldMaps(cluster.sc, begin.toString)
        val first = Future(FaultJob.answer(shuffled))
        SparkInternals.awaitExecutors(cluster.sc, Executors)
        Files.createFile(begin)
        assert(Await.result(first, Duration(120, "s")) === expected)
        eventually(assert(SparkInternals.executorIds(cluster.sc).size === 2))
        body(cluster, service, shuffled)
      }
    }
  }

  /** The shuffle files on this host that no running executor has written. */
  private def endedFiles(cluster: SparkCluster): Seq[Path] = {
    val live = cluster.sc
      .parallelize(0 until 20, 20)
      .flatMap(_ => SparkInternals.localDirectories().asScala)
      .collect()
      .toSet
    val root = Path.of(live.head).getParent.getParent.getParent
    Using.resource(Files.walk(root)) { all =>
      all.iterator.asScala
        .filter(path => path.getFileName.toString.startsWith("shuffle_"))
        .filterNot(path => live.exists(directory => path.startsWith(directory)))
        .toSeq
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

private object ShuffleServiceSuite {
  private val PauseNs = 10_000_000L

  /** The shuffle of a job whose map tasks wait for a file, so that each executor has some. */
  def heldMaps(sc: SparkContext, begin: String): RDD[(Int, Array[Byte])] = {
    val job = FaultJob.Usual
    val pauseNs = PauseNs
    sc.parallelize(0 until job.maps, job.maps)
      .flatMap { map =>
        while (!Files.exists(Path.of(begin))) {
          LockSupport.parkNanos(pauseNs)
        }
        job.recordsOf(map)
      }
      .partitionBy(new HashPartitioner(job.reducers))
  }
}
