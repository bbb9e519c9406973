// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.ExceptionFailure
import org.apache.spark.FetchFailed
import org.apache.spark.SparkEnv
import org.apache.spark.rdd.PartitionCoalescer
import org.apache.spark.rdd.PartitionGroup
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd
import org.sparkrdma.scenarios.faults.FaultJob
import org.sparkrdma.scenarios.faults.OneWayShuffle

/** Executors that end by SIGTERM, as a preempted container does, while they fetch. Their tasks run
  * on as long as the JVM's shutdown hooks do. A block that they cannot fetch then makes Spark
  * discard the map outputs of the executor it lies on, which is healthy.
  *
  * The task that reads ends its own JVM after its first block. It reads the others when the hook of
  * the plug-in is over, those of a second partition with a new reader, and Spark's hooks begin when
  * the driver has its result. DrainTest of the plug-in has the end after the manager's stop, and
  * EndingJvmTest one whose device hangs.
  */
final class TerminationSuite extends ScenarioSuite {
  // Spark would count a reader that mode required refuses as a failure of the task.
  for ((mode, partitions) <- Seq("auto" -> 1, "required" -> 2))
    test(s"should fail no fetch and refuse no reader in mode $mode while an executor ends") {
      assert(failures(mode, partitions) === Failures(0, 0))
    }

  /** Runs the job, whose reader ends its JVM; checks the answer, and counts. */
  private def failures(mode: String, partitions: Int): Failures = {
    val conf = OneWayShuffle
      .placing(Clusters.soft())
      .set("spark.shuffle.rdma.request.timeout", "2s")
      .set("spark.shuffle.rdma.mode", mode)
      // One request after the other, so that most are made while the JVM ends.
      .set("spark.reducer.maxReqsInFlight", "1")
      .set("spark.reducer.maxBlocksInFlightPerAddress", "1")
    SparkCluster.run(conf) { cluster =>
      val job = FaultJob(16, partitions, 40)
      val shuffle = new OneWayShuffle(cluster, job)
      val ended = shuffle.reader
      val driverHasResult = Files.createTempDirectory("ending").resolve("result")
      val ending = new ReaderEnd(ended, driverHasResult)
      cluster.sc.addSparkListener(ending)
      val file = driverHasResult.toString
      val one = new OnePartition(shuffle.readerLocation)
      val answer = shuffle.shuffled
        .coalesce(1, shuffle = false, partitionCoalescer = Some(one))
        .mapPartitions { fetched =>
          val first = fetched.next()
          if (SparkEnv.get.executorId == ended) {
            HeldEnd.begin(Path.of(file))
          }
          Iterator(FaultJob.summed(Iterator(first) ++ fetched))
        }
        .collect()
      assert(answer.toSeq === Seq(job.expected.map(_._1).sum -> job.expected.map(_._2).sum))
      SparkInternals.drainListeners(cluster.sc)
      assert(Files.exists(driverHasResult), "the reader has not ended on its executor")
      Failures(ending.named.asScala.count(_ != ended), ending.exceptions.size)
    }
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
