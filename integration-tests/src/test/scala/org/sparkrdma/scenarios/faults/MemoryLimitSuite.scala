// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.io.RandomAccessFile
import java.nio.file.Files
import java.nio.file.Path

import scala.util.Using

import org.apache.spark.SparkEnv
import org.sparkrdma.scenarios.Clusters
import org.sparkrdma.scenarios.ScenarioSuite
import org.sparkrdma.scenarios.SparkCluster
import org.sparkrdma.scenarios.SparkInternals

/** Executors in memory control groups that are full of page cache. */
final class MemoryLimitSuite extends ScenarioSuite {
  private val LimitBytes = 768L << 20
  private val FileBytes = 1L << 30
  private val BoundSeconds = 30
  private val Job = FaultJob(maps = 24, reducers = 24, records = 100)

  test("should read every block while its executors are at their memory limit") {
    val disk = MemoryLimitSuite
      .directoryOnDisk()
      .getOrElse(cancel("java.io.tmpdir and /var/tmp are in memory or cannot be written"))
    val groups = MemoryGroups
      .create(LimitBytes)
      .getOrElse(cancel("no memory control group can be created here"))
    Using.resource(groups) { groups =>
      val conf = Clusters
        .soft(coresEach = 2)
        .set("spark.executor.memory", "512m")
        // Other collectors and C2 need more memory beside the heap.
        .set("spark.executor.extraJavaOptions", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
        .set("spark.executorEnv.JAVA_HOME", groups.javaHome().toString)
        .set("spark.local.dir", disk.toString)
        // A control group for each executor, which the derived limit takes for that of all.
        .set("spark.shuffle.rdma.pinned.max", "96m")
      SparkInternals.forgetLocalDirectories()
      SparkCluster.run(OneWayShuffle.placing(conf)) { cluster =>
        val processes = cluster.processes()
        val pids = processes.values.toSeq
        val shuffle = new OneWayShuffle(cluster, Job)
        val files = fillPageCache(cluster, disk)
        try {
          pids.foreach(pid => assert(groups.usedBytes(pid) > LimitBytes * 9 / 10))
          val before = pids.map(groups.timesAtLimit)
          val ((answer, seconds), traffic) = cluster.trafficOf(timed(shuffle.read()))
          val atLimit = pids.map(groups.timesAtLimit).lazyZip(before).map(_ - _)

          assert(answer === Job.expected)
          assert(seconds < BoundSeconds)
          assert(atLimit.forall(_ > 0), s"the limit was not reached: $atLimit")
          assertAllByRead(traffic)
          assert(traffic.counter("rdma.blocks.read") === shuffle.blocks)
          assertNothingRetried(cluster)
          assert(cluster.processes() === processes, "an executor has died")
          pids.foreach(pid => assert(groups.killed(pid) === 0))
        } finally files.foreach(Files.delete)
      }
    }
  }

  /** Each executor reads a file of its own, which is larger than its limit. Returns the files. */
  private def fillPageCache(cluster: SparkCluster, disk: Path): Seq[Path] = {
    val folder = Files.createTempDirectory(disk, "page-cache")
    val files = cluster.processes().keys.map(id => id -> folder.resolve(id)).toMap
    files.values.foreach { file =>
      Using.resource(new RandomAccessFile(file.toFile, "rw"))(_.setLength(FileBytes))
    }
    val names = files.map { case (id, file) => id -> file.toString }
    cluster.onEveryExecutor(MemoryLimitSuite.readOwn(names)): Unit
    files.values.toSeq
  }
}

private object MemoryLimitSuite {
  private val StepBytes = 1 << 20
  private val InMemory = Set("tmpfs", "ramfs")

  /** A directory for files that the kernel can evict from memory, unlike those of a tmpfs. */
  def directoryOnDisk(): Option[Path] =
    Seq(sys.props("java.io.tmpdir"), "/var/tmp")
      .map(Path.of(_))
      .filter(Files.isWritable(_))
      .find(directory => !InMemory(Files.getFileStore(directory).`type`))

  /** Reads the file of the executor that calls this. */
  def readOwn(names: Map[String, String]): () => Long = () =>
    Using.resource(Files.newInputStream(Path.of(names(SparkEnv.get.executorId)))) { in =>
      val step = new Array[Byte](StepBytes)
      Iterator.continually(in.read(step).toLong).takeWhile(_ > 0).sum
    }
}
