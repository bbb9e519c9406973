// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.Callable
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

/** Common operators, jobs of several threads and very many tiny blocks on one cluster. */
final class OperatorsSuite extends ScenarioSuite {
  private val Threads = 4
  private val CoresEach = 2

  /** Of Spark without the plug-in. */
  private lazy val expected: Map[String, Any] =
    SparkCluster.vanilla(spark => Jobs.all.map { case (name, job) => name -> job(spark) }.toMap)

  private lazy val cluster: SparkCluster = {
    assert(expected.size === Jobs.all.size)
    shared(Clusters.soft(CoresEach))
  }

  for ((name, job) <- Jobs.all) {
    test(s"$name should return vanilla Spark's result, by READ") {
      val (result, traffic) = cluster.trafficOf(job(cluster.spark))
      assert(result === expected(name))
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
  }

  test("should return the same result in a barrier stage, by READ") {
    val (result, traffic) =
      cluster.trafficOf(Jobs.reduced(cluster.sc).barrier().mapPartitions(identity(_)).collect())
    assert(result.toSet === Jobs.reducedAnswer)
    assertAllByRead(traffic)
    assertNothingRetried(cluster)
  }

  test("should serve the jobs of several threads at once") {
    val (results, traffic) = cluster.trafficOf(allAtOnce())
    results.foreach { case (name, result) => assert(result === expected(name), name) }
    assertAllByRead(traffic)
    assertNothingRetried(cluster)
  }

  /* With more reducers than `spark.shuffle.sort.bypassMergeThreshold`, else a map task writes a
   * file for each block first. */
  for ((side, tags) <- Seq(220 -> Nil, 1_000 -> Seq(Nightly))) {
    test(s"should read $side x $side small blocks", tags: _*) {
      val sums = Seq.fill(side)(side -> side * (side - 1) / 2)
      val (result, traffic) = cluster.trafficOf(Jobs.smallBlocks(cluster.sc, side, side))
      assert(result === sums)
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
  }

  test("its executors should check nothing, because spark.shuffle.rdma.doctor is not set") {
    val log = Files.readString(Path.of(sys.env("IT_LOG")))
    assert(log.contains("RDMA is up"))
    assert(!log.contains("Checks of executor "))
  }

  /** Each thread runs half of the jobs, another half than the thread before it. */
  private def allAtOnce(): Seq[(String, Any)] = {
    val threads = Executors.newFixedThreadPool(Threads)
    try {
      val rounds = (0 until Threads).map { thread =>
        val half = Jobs.all.zipWithIndex.collect { case (job, i) if i % 2 == thread % 2 => job }
        val round: Callable[Seq[(String, Any)]] =
          () => half.map { case (name, job) => name -> job(cluster.spark) }
        round
      }
      threads.invokeAll(rounds.asJava).asScala.flatMap(_.get()).toSeq
    } finally {
      threads.shutdownNow()
      threads.awaitTermination(1, TimeUnit.MINUTES)
    }
  }
}
