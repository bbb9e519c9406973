// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.ExceptionFailure
import org.apache.spark.FetchFailed
import org.apache.spark.HashPartitioner
import org.apache.spark.SparkConf
import org.apache.spark.SparkEnv
import org.apache.spark.rdd.PartitionCoalescer
import org.apache.spark.rdd.PartitionGroup
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd
import org.sparkrdma.scenarios.faults.OneWayShuffle

/** Executors that end by SIGTERM, as a preempted container does, while they fetch. Their tasks run
  * on as long as the JVM's shutdown hooks do. A block that they cannot fetch then makes Spark
  * discard the map outputs of the executor it lies on, which is healthy.
  *
  * The task that reads ends its own JVM after its first block. It reads the others when the step
  * under test is over, those of a second partition with a new reader, and the hooks go on when the
  * driver has its result. Failures are compared with those of Spark's own shuffle in the same
  * ending.
  */
final class TerminationSuite extends ScenarioSuite {
  private val Maps = 16
  private val Records = 40
  private val Padding = 1_024

  /** A string, because its superclass is private to Spark in Scala. */
  private val SortManager = "org.sparkrdma.scenarios.HeldSortManager"

  private val Steps = Seq(HeldEnd.JvmHook -> Nil, HeldEnd.ManagerStop -> Seq(Nightly))

  // Hanging READs: every day EndingJvmTest of the plug-in ends a process while its device hangs.
  for {
    (step, tags) <- Steps
    (reads, faults, more) <- Seq(
      ("", "", Nil),
      (" and its READs hang", "hang@2+", Seq(Nightly))
    )
  } test(
    s"should fail no fetch from a healthy executor while one waits after its $step$reads",
    tags ++ more: _*
  ) {
    compare(step, partitions = 1, "spark.shuffle.rdma.soft.faults" -> faults)
  }

  /** Spark would count a refused reader as a failure of the task. */
  for ((step, tags) <- Steps)
    test(
      s"should refuse no reader in mode required while an executor waits after its $step",
      tags: _*
    ) {
      compare(step, partitions = 2, "spark.shuffle.rdma.mode" -> "required")
    }

  private def compare(step: String, partitions: Int, setting: (String, String)): Unit = {
    val soft = Clusters
      .soft()
      .set("spark.shuffle.manager", classOf[HeldRdmaManager].getName)
      .set("spark.shuffle.rdma.request.timeout", "2s")
      .set(setting._1, setting._2)
    val failures = failuresOf(soft, step, partitions)
    // Spark's own shuffle runs only where there is a failure: it cannot have fewer than none.
    lazy val ofVanilla =
      failuresOf(Clusters.vanilla().set("spark.shuffle.manager", SortManager), step, partitions)
    assert(failures.ofHealthy == 0 || failures.ofHealthy <= ofVanilla.ofHealthy)
    assert(failures.ofTasks == 0 || failures.ofTasks <= ofVanilla.ofTasks)
  }

  /** One request after the other, so that most are made while the JVM ends. */
  private def oneRequestAtATime(conf: SparkConf): SparkConf =
    OneWayShuffle
      .placing(conf)
      .set("spark.reducer.maxReqsInFlight", "1")
      .set("spark.reducer.maxBlocksInFlightPerAddress", "1")

  /** Runs the job, whose reader ends its JVM; checks the answer, and counts. */
  private def failuresOf(conf: SparkConf, step: String, partitions: Int): Failures =
    SparkCluster.run(oneRequestAtATime(conf)) { cluster =>
      val hosts = cluster.onEveryExecutor(() => SparkEnv.get.blockManager.blockManagerId.host)
      val (writer, ended) = (hosts.keys.min, hosts.keys.max)
      def location(id: String): String = s"executor_${hosts(id)}_$id"
      val records = Records
      val padding = Padding
      val written = cluster.sc
        .makeRDD(Seq.tabulate(Maps)(map => map -> Seq(location(writer))))
        .flatMap(_ => Iterator.tabulate(records)(i => (0, i) -> new Array[Byte](padding)))
      val driverHasResult = Files.createTempDirectory("ending").resolve("result")
      val ending = new ReaderEnd(ended, driverHasResult)
      cluster.sc.addSparkListener(ending)
      val file = driverHasResult.toString
      val shuffled = new PlacedShuffle(written, new HashPartitioner(partitions), location(ended))
      val answer = shuffled
        .coalesce(1, shuffle = false, partitionCoalescer = Some(new OnePartition(location(ended))))
        .mapPartitions { fetched =>
          val first = fetched.next()
          if (SparkEnv.get.executorId == ended) {
            HeldEnd.begin(step, Path.of(file))
          }
          Iterator((Iterator(first) ++ fetched).map { case ((_, i), _) => i }.toSeq)
        }
        .map(numbers => numbers.size -> numbers.sum)
        .collect()
      assert(answer.toSeq === Seq(Maps * Records -> Maps * Records * (Records - 1) / 2))
      SparkInternals.drainListeners(cluster.sc)
      assert(Files.exists(driverHasResult), "the reader has not ended on its executor")
      Failures(ending.named.asScala.count(_ != ended), ending.exceptions.size)
    }
}

/** Failures that Spark counts.
  *
  * @param ofHealthy
  *   fetches that failed and name a healthy executor
  * @param ofTasks
  *   tasks that ended with an exception
  */
private final case class Failures(ofHealthy: Int, ofTasks: Int)

/** One task reads all partitions, one after the other, each with a reader of its own. */
private final class OnePartition(location: String) extends PartitionCoalescer with Serializable {
  override def coalesce(maxPartitions: Int, parent: RDD[_]): Array[PartitionGroup] = {
    val group = new PartitionGroup(Some(location))
    group.partitions ++= parent.partitions
    Array(group)
  }
}

/** Writes a file when the reader's task has ended, and collects failures of tasks. Called on
  * Spark's listener thread.
  */
private final class ReaderEnd(reader: String, file: Path) extends SparkListener {

  /** Executors that failed fetches name. */
  val named = new ConcurrentLinkedQueue[String]

  /** Exceptions of tasks. */
  val exceptions = new ConcurrentLinkedQueue[String]

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = {
    event.reason match {
      case failed: FetchFailed => Option(failed.bmAddress).foreach(at => named.add(at.executorId))
      case failed: ExceptionFailure => exceptions.add(failed.toErrorString): Unit
      case _                        =>
    }
    if (event.taskType == "ResultTask" && event.taskInfo.executorId == reader) {
      Files.createFile(file): Unit
    }
  }
}
