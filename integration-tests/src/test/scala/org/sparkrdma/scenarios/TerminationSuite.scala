// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.FetchFailed
import org.apache.spark.HashPartitioner
import org.apache.spark.SparkConf
import org.apache.spark.SparkEnv
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd
import org.sparkrdma.scenarios.faults.OneWayShuffle

/** Executors that end by SIGTERM, as a preempted container does, while they fetch. Their tasks run
  * on as long as the JVM's shutdown hooks do. A block that they cannot fetch then makes Spark
  * discard the map outputs of the executor it lies on, which is healthy.
  *
  * The task that reads ends its own JVM after its first block. It reads the others when the step
  * under test is over, and the hooks go on when the driver has its result. Each ending is compared
  * with the same ending of Spark's own shuffle.
  */
final class TerminationSuite extends ScenarioSuite {
  private val Maps = 16
  private val Records = 40
  private val Padding = 1_024
  private val HangingReads = "hang@2+"

  /** A string, because its superclass is private to Spark in Scala. */
  private val SortManager = "org.sparkrdma.scenarios.HeldSortManager"

  for {
    step <- Seq(HeldEnd.JvmHook, HeldEnd.ManagerStop)
    (reads, faults) <- Seq("" -> "", " and its READs hang" -> HangingReads)
  } test(s"should fail no fetch from a healthy executor while one waits after its $step$reads") {
    compare(step, faults)
  }

  private def compare(step: String, faults: String): Unit = {
    val soft = Clusters
      .soft()
      .set("spark.shuffle.manager", classOf[HeldRdmaManager].getName)
      .set("spark.shuffle.rdma.request.timeout", "2s")
      .set("spark.shuffle.rdma.peer.timeout", "2s")
      .set("spark.shuffle.rdma.soft.faults", faults)
    val failures = failuresOfHealthy(soft, step)
    val vanilla =
      Clusters.vanilla().set("spark.shuffle.manager", SortManager)
    val ofVanilla = failuresOfHealthy(vanilla, step)
    info(s"FetchFailed events that name a healthy executor: $failures, vanilla: $ofVanilla")
    assert(failures <= ofVanilla)
  }

  /** One request after the other, so that most are made while the JVM ends. */
  private def oneRequestAtATime(conf: SparkConf): SparkConf =
    OneWayShuffle
      .placing(conf)
      .set("spark.reducer.maxReqsInFlight", "1")
      .set("spark.reducer.maxBlocksInFlightPerAddress", "1")

  /** Runs the job, whose reader ends its JVM; checks the answer, and counts. */
  private def failuresOfHealthy(conf: SparkConf, step: String): Int =
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
      val answer = new PlacedShuffle(written, new HashPartitioner(1), location(ended))
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
      ending.failures.count(_ != ended)
    }
}

/** Writes a file when the reader's task has ended, and collects the executors that failed fetches
  * name. Called on Spark's listener thread.
  */
private final class ReaderEnd(reader: String, file: Path) extends SparkListener {
  private val named = new ConcurrentLinkedQueue[String]

  def failures: Seq[String] = named.asScala.toSeq

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = {
    event.reason match {
      case failed: FetchFailed => Option(failed.bmAddress).foreach(at => named.add(at.executorId))
      case _                   =>
    }
    if (event.taskType == "ResultTask" && event.taskInfo.executorId == reader) {
      Files.createFile(file): Unit
    }
  }
}
