// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.io.FileOutputStream
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import java.util.Arrays
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Using

import org.apache.spark.ExceptionFailure
import org.apache.spark.FetchFailed
import org.apache.spark.SparkConf
import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd
import org.sparkrdma.scenarios.Clusters
import org.sparkrdma.scenarios.ScenarioSuite
import org.sparkrdma.scenarios.SparkCluster
import org.sparkrdma.scenarios.SparkInternals
import org.sparkrdma.scenarios.Traffic

/** Executors whose local directories are on a file system without free space (ENOSPC). It gets free
  * space again when the first task has failed.
  */
final class FullDiskSuite extends ScenarioSuite {
  import FullDiskSuite._

  private val BoundSeconds = 30

  private lazy val disk = Path.of(sys.props("it.small.disk"))
  private val expected = FaultJob.Usual.expected

  test("should give the right answer when the disk is full under writers and spilling reducers") {
    withExecutors(conf()) { cluster =>
      val (answer, writing) = underFullDisk(cluster)(FaultJob.Usual.run(cluster.sc))
      assertAllByRead(writing)
      assert(answer === expected)
      val sorted = sortedNoise(cluster.sc)
      assert(hashes(sorted) === SortedHashes)
      val (again, reading) = underFullDisk(cluster)(hashes(sorted))
      // Spark's task metrics lack what failed tasks read.
      assertNothingByTcp(reading)
      assert(again === SortedHashes)
      assert(cluster.log.retriedStages === 0)
    }
  }

  test("should give the right answer when the disk is full while blocks are read to disk") {
    withExecutors(conf().set("spark.network.maxRemoteBlockSizeFetchToMem", "8k")) { cluster =>
      val shuffled = FaultJob.Usual.shuffled(cluster.sc)
      assert(FaultJob.answer(shuffled) === expected)
      val (answer, traffic) = underFullDisk(cluster)(FaultJob.answer(shuffled))
      assert(answer === expected)
      assert(traffic.counter("fallback.disk") > 0, traffic)
      assert(cluster.log.retriedStages > 0)
      val (again, after) = cluster.trafficOf(FaultJob.answer(shuffled))
      assert(after.counter("fallback.disk") > 0, after)
      assert(again === expected)
    }
  }

  /** Fills the disk, runs work, and frees the disk when a task has failed. */
  private def underFullDisk[T](cluster: SparkCluster)(work: => T): (T, Traffic) = {
    val filler = new Filler
    val failures = new NoSpace(filler)
    cluster.sc.addSparkListener(failures)
    try {
      val ((answer, seconds), traffic) = cluster.trafficOf(timed {
        filler.fill()
        work
      })
      assert(seconds < BoundSeconds)
      SparkInternals.drainListeners(cluster.sc)
      assert(failures.count > 0, "no task found the disk full")
      (answer, traffic)
    } finally {
      cluster.sc.removeSparkListener(failures)
      filler.free()
    }
  }

  private def withExecutors(conf: => SparkConf)(body: SparkCluster => Unit): Unit = {
    requireDisk()
    // The cluster before it may have had other directories.
    SparkInternals.forgetLocalDirectories()
    SparkCluster.run(conf)(body)
  }

  private def requireDisk(): Unit = {
    if (!sys.props.contains("it.small.disk")) {
      cancel("users may not mount a tmpfs in a namespace here")
    }
  }

  private def conf(): SparkConf =
    Clusters
      .soft(coresEach = 2)
      .set("spark.local.dir", disk.toString)
      .set("spark.shuffle.rdma.serve", "window")
      // Spark's own shuffle loses records of a compressed block without a failed task, also without
      // the plug-in: Output.close of Kryo ignores the IOException of the last write.
      .set("spark.shuffle.compress", "false")
      .set("spark.shuffle.io.retryWait", "1s")
      // Sorts of reducers spill.
      .set("spark.shuffle.spill.numElementsForceSpillThreshold", "50")
      // Tasks fail until the driver has freed the disk.
      .set("spark.task.maxFailures", "1000")

  /** A file that takes the free space. Used by the test's thread and freed by any. */
  private final class Filler {
    private val file = disk.resolve("filler")
    private val Chunk = new Array[Byte](1 << 16)

    /** Number of times that the file system had no space for it. */
    @volatile var refusals = 0

    def fill(): Unit =
      Using.resource(new FileOutputStream(file.toFile)) { out =>
        while (refusals == 0) {
          try out.write(Chunk)
          catch { case _: IOException => refusals += 1 }
        }
      }

    def free(): Unit = Files.deleteIfExists(file): Unit
  }

  /** Counts tasks that found the disk full; the first one frees it. */
  private final class NoSpace(filler: Filler) extends SparkListener {
    private val failed = new AtomicInteger

    def count: Int = failed.get

    override def onTaskEnd(event: SparkListenerTaskEnd): Unit = {
      val text = event.reason match {
        case failure: ExceptionFailure => failure.toErrorString
        case failure: FetchFailed      => failure.message
        case _                         => ""
      }
      if (text.contains("No space left on device")) {
        failed.incrementAndGet()
        filler.free()
      }
    }
  }
}

private object FullDiskSuite {
  private val Maps = 8
  private val Records = 400
  private val Reducers = 6

  /** The keys of all records in their order, and hashes of their values. */
  val SortedHashes: Seq[(Int, Int)] =
    (0 until Maps * Records).map(i => hash(FaultJob.record(i))).sortBy(_._1)

  /** Sorted partitions, which reducers spill. */
  def sortedNoise(sc: SparkContext): RDD[(Int, Array[Byte])] =
    sc.parallelize(0 until Maps, Maps)
      .flatMap(map => Iterator.tabulate(Records)(i => FaultJob.record(map * Records + i)))
      .sortByKey(numPartitions = Reducers)

  def hashes(sorted: RDD[(Int, Array[Byte])]): Seq[(Int, Int)] = sorted.map(hash).collect().toSeq

  private def hash(record: (Int, Array[Byte])): (Int, Int) =
    record._1 -> Arrays.hashCode(record._2)
}
