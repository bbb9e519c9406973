// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.Arrays
import java.util.concurrent.locks.LockSupport

import scala.concurrent.Await
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.concurrent.duration.Duration
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.HashPartitioner
import org.apache.spark.SparkConf
import org.apache.spark.rdd.RDD
import org.scalatest.exceptions.TestFailedException
import org.sparkrdma.scenarios.faults.FaultJob
import org.sparkrdma.suites.ReadCounts

/** Executors whose map outputs an external shuffle service serves as well. */
final class ShuffleServiceSuite extends ScenarioSuite {
  private val Executors = 4
  private val Host = "127.0.0.1"

  /** A line of this project; it logs no name of its package. */
  private val OurWarning = "\\S+ \\d+ (WARN|ERROR) .*(RDMA|READ|TCP|peer).*"

  /** Part of the bytes of ended executors that must come by READ. */
  private val ByRead = 0.9

  /** No endpoint at first, because the new executor may not have started RDMA; and of those that
    * meet the end of an executor.
    */
  private val ReasonsAfterDeath =
    Set("lost-peer", "connect-failed", "no-endpoint")

  private val expected = FaultJob.Usual.expected

  // PluginSuite has the other manager every day.
  for (
    (manager, tags) <- Seq(
      "org.sparkrdma.shuffle.RdmaShuffleManager" -> Nil,
      "org.sparkrdma.scenarios.StubManager" -> Seq(Nightly)
    )
  ) {
    test(
      s"should read blocks of a dead executor from a live one on its host or from the service, with $manager",
      tags: _*
    ) {
      val conf = Clusters
        .soft()
        .set("spark.shuffle.service.enabled", "true")
        .set("spark.shuffle.manager", manager)
        .set("spark.plugins", ReadCounts.WITH_CHECKS + ",org.sparkrdma.shuffle.RdmaPlugin")
      Using.resource(ShuffleService.start(conf)) { service =>
        SparkCluster.run(conf.set("spark.shuffle.service.port", service.port.toString)) { cluster =>
          val reduced = Jobs.reduced(cluster.sc)
          val (first, byRead) = cluster.trafficOf(reduced.collect().toSet)
          assertAllByRead(byRead)
          assert(service.bytesServed === 0)
          assert(service.directoriesAsked === 0, "no executor has ended")

          val before = cluster.processes()
          cluster.kill(before.values.head)
          awaitOtherExecutor(cluster, before.keySet)
          val (again, mixed) = cluster.trafficOf(reduced.collect().toSet)
          assert(again === first)
          assert(mixed.counter("ended.bytes.read") > 0, mixed)
          assertSameAsSpark(mixed)
          assert(service.bytesServed === mixed.tcpBytes)
          assert(mixed.fallbacks.keySet.subsetOf(ReasonsAfterDeath), mixed)
          assert(mixed.fallbacks.values.sum === mixed.counter("tcp.blocks.read"), mixed)
          assert(mixed.counter("peers.quarantined") === 0, mixed)
          assert(
            cluster.log.retriedStages === 0,
            "the outputs of the dead executor are still there"
          )
        }
      }
    }
  }

  for ((shuffles, tags) <- Seq(1 -> Nil, 4 -> Seq(Nightly)))
    test(
      s"should answer while executors of a Worker with the service end, $shuffles of a job",
      tags: _*
    ) {
      val job = FaultJob.Many
      val right = total(job.expected)
      onWorker(Clusters.soft()) { cluster =>
        val logged = Files.size(DebugLog.log)
        assert(total(answerAmidChanges(cluster, job, shuffles)) === right)
        assertNothingRetried(cluster)
        assertEndedByRead(cluster.answering())
        assert(DebugLog.linesSince(logged).filter(_.matches(OurWarning)) === Nil)
      }
    }

  private def total(answer: Seq[(Int, Long)]): (Int, Long) =
    answer.map(_._1).sum -> answer.map(_._2).sum

  /** Assumes blocks of one length. Executors that have just started have no RDMA yet. */
  private def assertEndedByRead(read: Traffic): Unit = {
    val ended = read.counter("ended.bytes.read")
    val fallback = (read.fallbacks - "unavailable").values.sum
    val blocks = read.counter("rdma.blocks.read") + read.counter("tcp.blocks.read")
    val byTcp = fallback * (read.rdmaBytes + read.tcpBytes) / blocks
    info(s"of ended executors by READ: $ended bytes, by TCP at most $byTcp")
    assert(ended > 0, read)
    assert(byTcp <= (1 - ByRead) * (ended + byTcp), read)
    assert(read.counter("peers.quarantined") === 0, read)
    // The Worker has deleted the checksums.
    assert(read.counter("verify.unverified") === 0, read)
  }

  /** The answer of a job each of whose map stages begins on four executors, and ends when dynamic
    * allocation has ended two.
    */
  private def answerAmidChanges(cluster: SparkCluster, job: FaultJob, shuffles: Int) = {
    val files = Files.createTempDirectory("stages")
    def held(stage: Int, read: RDD[(Int, Array[Byte])]) =
      ShuffleServiceSuite.held(read, job.reducers, s"$files/begin$stage", s"$files/end$stage")
    val maps = cluster.sc.parallelize(0 until job.maps, job.maps).flatMap(job.recordsOf(_))
    val last = (1 until shuffles).foldLeft(held(0, maps)) { (read, stage) =>
      held(stage, read.map { case (_, bytes) => Arrays.hashCode(bytes) -> bytes })
    }
    val answer = Future(FaultJob.answer(last))
    for (stage <- 0 until shuffles) {
      awaitBusy(cluster)
      Files.createFile(files.resolve(s"begin$stage"))
      eventually(assert(SparkInternals.executorIds(cluster.sc).size === 2))
      Files.createFile(files.resolve(s"end$stage"))
    }
    Await.result(answer, Duration(120, "s"))
  }

  // Every day a service lacks some files.
  test("should recompute as Spark does when the service is gone before it was needed", Nightly) {
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
      Files.delete(files(0))
      // Without permission root would read them.
      Files.delete(files(1))
      Files.createDirectory(files(1))
      val directory = files(2).getParent
      Files.move(directory, directory.resolveSibling("moved"))
      Files.createFile(directory)
      assert(FaultJob.answer(shuffled) === expected)
    }
  }

  test(
    "should give the vanilla answer when the stand-in, then all of the host, is killed while it serves, and last without the service"
  ) {
    allocated() { (cluster, service, shuffled) =>
      def live = cluster.sc.parallelize(0 until 20, 20).map(_ => ProcessHandle.current().pid())
      def answersWhileKilled(pids: Array[Long]): Unit = {
        val killers = pids.map(new ExecutorKiller(_, afterReducers = 2))
        killers.foreach(cluster.sc.addSparkListener(_))
        assert(FaultJob.answer(shuffled) === expected)
        assert(killers.forall(_.fired))
        assert(!pids.exists(ProcessHandle.of(_).map[Boolean](_.isAlive).orElse(false)))
      }
      answersWhileKilled(Array(live.first()))
      answersWhileKilled(live.distinct().collect())
      // Executors ask the service once.
      eventually {
        val before = cluster.answering()
        assert(FaultJob.answer(shuffled) === expected)
        assert(cluster.answering().since(before).tcpBytes === 0)
      }
      service.close()
      val (before, retried) = (cluster.answering(), cluster.log.retriedStages)
      assert(FaultJob.answer(shuffled) === expected)
      assert(cluster.answering().since(before).counter("ended.bytes.read") > 0)
      assert(cluster.log.retriedStages === retried)
    }
  }

  /** An executor that has not run a task ends without map outputs. */
  private def awaitBusy(cluster: SparkCluster): Unit = eventually {
    val status = cluster.sc.statusTracker
    val stages = status.getActiveStageIds().flatMap(status.getStageInfo(_))
    assert(stages.map(_.numActiveTasks).sum === Executors)
  }

  /** Runs a job's map stage on four executors, of which dynamic allocation ends two. Once more when
    * it ends a third one: on a busy machine Spark counts an ended executor again, as idle, when its
    * last events come late.
    */
  private def allocated(mayRepeat: Boolean = true)(
      body: (SparkCluster, ShuffleService, RDD[(Int, Array[Byte])]) => Unit
  ): Unit = {
    var repeat = false
    val conf = allocating(Clusters.soft())
      .setMaster(s"local-cluster[$Executors,1,1024]")
      .set("spark.shuffle.io.retryWait", "1s")
      // Those that have ended are not replaced during a test.
      .set("spark.dynamicAllocation.schedulerBacklogTimeout", "10min")
    Using.resource(ShuffleService.start(conf)) { service =>
      conf.set("spark.shuffle.service.port", service.port.toString)
      Using.resource(SparkCluster.start(conf, 1)) { cluster =>
        val begin = Files.createTempFile("maps", ".begin")
        Files.delete(begin)
        val job = FaultJob.Usual
        val maps = cluster.sc.parallelize(0 until job.maps, job.maps).flatMap(job.recordsOf(_))
        val shuffled =
          ShuffleServiceSuite.held(maps, job.reducers, begin.toString, begin.toString)
        val first = Future(FaultJob.answer(shuffled))
        awaitBusy(cluster)
        Files.createFile(begin)
        assert(Await.result(first, Duration(120, "s")) === expected)
        eventually(assert(SparkInternals.executorIds(cluster.sc).size === 2))
        try body(cluster, service, shuffled)
        catch {
          case _: TestFailedException
              if mayRepeat && SparkInternals.executorIds(cluster.sc).size < 2 =>
            repeat = true
        }
      }
    }
    if (repeat) allocated(mayRepeat = false)(body)
  }

  private def allocating(conf: SparkConf): SparkConf =
    conf
      .set("spark.shuffle.service.enabled", "true")
      .set("spark.dynamicAllocation.enabled", "true")
      .set("spark.dynamicAllocation.initialExecutors", Executors.toString)
      .set("spark.dynamicAllocation.maxExecutors", Executors.toString)
      .set("spark.dynamicAllocation.minExecutors", "2")
      // A busy machine may need some seconds until an executor has its first task.
      .set("spark.dynamicAllocation.executorIdleTimeout", "3s")

  /** A standalone cluster of one Worker with the service, for all executors. */
  private def onWorker(shuffle: SparkConf)(body: SparkCluster => Unit): Unit = {
    val conf = allocating(shuffle)
      .set("spark.shuffle.service.port", FreePort.choose().toString)
      .set("spark.shuffle.service.db.enabled", "false")
      .set("spark.executor.cores", "1")
    Using.resource(new MasterAndWorkers(conf)) { standalone =>
      val master = standalone.startMaster(Host, 0)
      val directory = Files.createTempDirectory("worker").toString
      standalone.startWorker(master, Host, Executors, directory)
      Using.resource(SparkCluster.start(conf.setMaster(master), 1))(body)
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
}

private object ShuffleServiceSuite {
  private val PauseNs = 10_000_000L

  /** A shuffle whose map tasks wait for a file, so that each executor has some, and the first one
    * for another.
    */
  def held(
      read: RDD[(Int, Array[Byte])],
      reducers: Int,
      begin: String,
      end: String
  ): RDD[(Int, Array[Byte])] = {
    val pauseNs = PauseNs
    read
      .mapPartitionsWithIndex { (index, records) =>
        while (!Files.exists(Path.of(if (index == 0) end else begin))) {
          LockSupport.parkNanos(pauseNs)
        }
        records
      }
      .partitionBy(new HashPartitioner(reducers))
  }
}
