// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.ExceptionFailure
import org.apache.spark.FetchFailed
import org.apache.spark.TaskKilled
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerExecutorRemoved
import org.apache.spark.scheduler.SparkListenerTaskEnd

/** Mode required where one of two executors has no RDMA: both listen on the same port of one host.
  */
final class RequiredRdmaSuite extends ScenarioSuite {
  test(
    "should run the tasks of an executor without RDMA in the other executor and count no failure"
  ) {
    val expected = VanillaAnswers.everyday("groupBy")
    val conf = Clusters
      .soft()
      .set("spark.shuffle.rdma.mode", "required")
      .set("spark.shuffle.rdma.listen.port", FreePort.choose().toString)
      // The first failure of a task or an executor fails the test.
      .set("spark.task.maxFailures", "1")
      .set("spark.deploy.maxExecutorRetries", "1")
    SparkCluster.run(conf) { cluster =>
      val ends = new Ends
      cluster.sc.addSparkListener(ends)
      (1 to 5).foreach(_ => assert(Jobs.groupBy(cluster.spark) === expected))
      SparkInternals.drainListeners(cluster.sc)
      assert(ends.killed.get > 0, "no executor was without RDMA")
      assert(ends.failed.get === 0)
      assert(ends.removed.get === 0)
    }
  }

  private final class Ends extends SparkListener {
    val killed = new AtomicInteger
    val failed = new AtomicInteger
    val removed = new AtomicInteger

    override def onTaskEnd(event: SparkListenerTaskEnd): Unit = event.reason match {
      case _: TaskKilled                        => killed.incrementAndGet(): Unit
      case _: ExceptionFailure | _: FetchFailed => failed.incrementAndGet(): Unit
      case _                                    => ()
    }

    override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit =
      removed.incrementAndGet(): Unit
  }
}
