// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkEnv
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerExecutorRemoved
import org.sparkrdma.scenarios.Nightly
import org.sparkrdma.scenarios.ScenarioSuite
import org.sparkrdma.scenarios.SparkCluster
import org.sparkrdma.scenarios.SparkInternals
import org.sparkrdma.scenarios.Traffic
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Faults
import org.sparkrdma.scenarios.faults.plan.Step

/** Each fault fires with blocks in flight; the answer is vanilla Spark's, within the bound. */
final class FaultsSuite extends ScenarioSuite {
  private val MuteDirectoryBound = 60

  private val expected = FaultJob.Usual.expected
  private var bench: Option[FaultBench] = None

  test("should give the vanilla answer when the driver's directory does not answer") {
    SparkCluster.run(FaultBench.conf()) { cluster =>
      val mute = MuteDirectory.replace(SparkEnv.get)
      val ((answer, seconds), traffic) = cluster.trafficOf {
        val answer = FaultJob.Usual.run(cluster.sc)
        answer -> (System.currentTimeMillis - mute.firstMs) / 1000.0
      }
      assert(answer === expected)
      assertNothingRetried(cluster)
      assertSameAsSpark(traffic)
      assert(traffic.fallbacks.keySet === Set("no-endpoint"))
      assert(traffic.counter("rdma.blocks.read") === 0)
      assert(mute.asked > 0)
      assert(seconds < MuteDirectoryBound)
    }
  }

  FaultPoints.usual.foreach(testFault)

  test("should end the executor and give the vanilla answer when its agent has no heap left") {
    val on = openBench("auto")
    val ends = new ConcurrentLinkedQueue[String]
    on.cluster.sc.addSparkListener(new SparkListener {
      override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit =
        ends.add(event.reason): Unit
    })
    val executors = on.executorIds()
    val first = on.firstProcess()._1
    val rules = Seq(FaultPoint.rule(Step.READ, Act.EXHAUST_HEAP, chance = 1, maxFires = 1))
    on.cluster.onEveryExecutor { () =>
      if (SparkEnv.get.executorId == first) Faults.here().arm(rules.asJava)
    }: Unit
    assert(FaultJob.Usual.run(on.cluster.sc) === expected)
    // Spark's own handler has ended it: SparkExitCode.OOM.
    eventually(assert(ends.asScala.exists(_.contains("52")), ends))
    awaitOtherExecutor(on.cluster, executors)
    awaitAllByRead(on)
  }

  (LastFaults.all ++ FaultPoints.others).foreach(testFault)

  private def testFault(point: FaultPoint): Unit = {
    val tags = if (point.nightly) Seq(Nightly) else Nil
    test(s"should give the vanilla answer when ${point.name}", tags: _*)(runFault(point))
  }

  private def runFault(point: FaultPoint): Unit = {
    val on = openBench(point.serve)
    val cluster = on.cluster
    val executors = on.executorIds()
    val first = on.firstProcess()
    val before = on.counters()
    val retriedBefore = retried(cluster)
    on.arm(point)
    val place = if (point.readsOnOneExecutor) Some(on.locationOf(first._1)) else None
    if (point.runsTwice) {
      assert(FaultJob.Usual.run(cluster.sc, place) === expected)
    }
    val answer = if (point.killsTasks) killing(on, point) else FaultJob.Usual.run(cluster.sc, place)
    val endMs = System.currentTimeMillis
    assert(answer === expected)
    if (point.after == FaultPoint.OtherExecutor) {
      awaitOtherExecutor(on.cluster, executors)
    }
    val reports = on.disarm()
    val hits = reports.map(_.hits).filter(_.size == point.rules.size)
    point.rules.indices.foreach { i =>
      assert(hits.map(_.get(i).intValue).sum > 0, s"the rule never fired: ${point.rules(i)}")
    }
    assert(reports.map(_.clashes).sum === 0, "READs into memory that earlier READs may write")
    val seconds = (endMs - reports.map(_.firstMs).filter(_ > 0).min) / 1000.0
    assert(seconds < point.boundSeconds)
    assert(seconds > point.leastSeconds)
    val allHits = point.rules.indices.map(i => hits.map(_.get(i).intValue).sum)
    val grown = eventually {
      val grown = difference(on.counters(), before)
      point.claims.foreach { claim =>
        assert(grown.getOrElse(claim.counter, 0L) >= claim.least(allHits.head), s"$claim: $grown")
      }
      grown
    }
    val retriedNow = retried(cluster)
    val pauseMs = if (point.pausesExecutor) 0L else reports.map(_.pauseMs).max
    assertRange(point, grown, allHits.head, pauseMs)
    assertRetries(point, retriedNow._1 - retriedBefore._1, retriedNow._2 - retriedBefore._2)
    recover(on, point, executors, first)
  }

  /** Tasks that failed, and stages that were retried. */
  private def retried(cluster: SparkCluster): (Int, Int) = {
    SparkInternals.drainListeners(cluster.sc)
    (cluster.log.failedTasks, cluster.log.retriedStages)
  }

  /** An executor that does not run for a while causes time-outs of its own. */
  private def assertRange(
      point: FaultPoint,
      grown: Map[String, Long],
      hits: Int,
      pauseMs: Long
  ): Unit = {
    val reasons = Traffic(grown, 0).fallbacks
    if (pauseMs < FaultPoint.PauseMs) {
      assert(reasons.keySet.subsetOf(point.reasons), grown)
      point.claims.foreach { claim =>
        assert(grown.getOrElse(claim.counter, 0L) <= claim.most(hits), s"$claim: $grown")
      }
    } else {
      assert(reasons.keySet.subsetOf(point.reasons ++ FaultPoint.OfPauses), grown)
    }
    if (point.retries == FaultPoint.NoRetry) {
      assert(reasons.values.sum === grown.getOrElse("tcp.blocks.read", 0L), grown)
    }
  }

  private def assertRetries(point: FaultPoint, failedTasks: Int, retriedStages: Int): Unit =
    point.retries match {
      case FaultPoint.NoRetry => assert((failedTasks, retriedStages) === (0, 0))
      case FaultPoint.TasksRepeated =>
        assert(failedTasks > 0)
        assert(retriedStages === 0)
      case FaultPoint.StagesRetried => assert(retriedStages > 0)
    }

  private def killing(on: FaultBench, point: FaultPoint): Seq[(Int, Long)] = {
    val killer = new TaskKiller(on.cluster.sc)
    on.cluster.sc.addSparkListener(killer)
    val answer = FaultJob.Usual.run(on.cluster.sc)
    on.cluster.sc.removeSparkListener(killer)
    assert(killer.killed > 0, "no task was killed")
    answer
  }

  private def recover(
      on: FaultBench,
      point: FaultPoint,
      executors: Set[String],
      first: (String, Long)
  ): Unit = {
    if (point.after == FaultPoint.Replace) {
      on.cluster.kill(first._2)
      awaitOtherExecutor(on.cluster, executors)
    }
    if (point.after != FaultPoint.Nothing) {
      awaitAllByRead(on)
    }
  }

  private def awaitAllByRead(on: FaultBench): Unit = {
    eventually {
      val (answer, traffic) = on.cluster.trafficOf(FaultJob.Usual.run(on.cluster.sc))
      assert(answer === expected)
      assertAllByRead(traffic)
    }
    eventually {
      on.openWork().foreach { case (inFlight, queuePairs) =>
        assert(inFlight === 0, "blocks or requests are left")
        // One for each direction.
        assert(queuePairs <= 2, "queue pairs are left")
      }
    }
  }

  private def difference(
      after: Map[String, Map[String, Long]],
      before: Map[String, Map[String, Long]]
  ): Map[String, Long] =
    after.toSeq
      .flatMap { case (id, counts) =>
        val earlier = before.getOrElse(id, Map.empty)
        counts.map { case (name, count) => name -> (count - earlier.getOrElse(name, 0L)) }
      }
      .groupMapReduce(_._1)(_._2)(_ + _)

  private def openBench(serve: String): FaultBench = {
    val cluster = shared(FaultBench.conf(serve))
    if (!bench.exists(_.cluster eq cluster)) {
      bench = Some(new FaultBench(cluster))
      if (serve == "auto") {
        // The first faults need executors that have returned the memory of their first fetch.
        eventually(assert(bench.get.endsAndBytes().forall(_ == ((2L, 0L)))))
      }
    }
    bench.get
  }
}
