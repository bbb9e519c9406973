// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.SparkException
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerExecutorRemoved

/** Mode required where one of two executors has no RDMA: both listen on the same port of one host.
  */
final class RequiredRdmaSuite extends ScenarioSuite {
  test("should fail the job with the reasons and end no executor where one has no RDMA") {
    val conf = Clusters
      .soft()
      .set("spark.shuffle.rdma.mode", "required")
      .set("spark.shuffle.rdma.listen.port", FreePort.choose().toString)
      .set("spark.task.maxFailures", "1")
      // The first executor that ends fails the test.
      .set("spark.deploy.maxExecutorRetries", "1")
    SparkCluster.run(conf) { cluster =>
      val removed = new AtomicInteger
      cluster.sc.addSparkListener(new SparkListener {
        override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit =
          removed.incrementAndGet(): Unit
      })
      val failure =
        intercept[SparkException]((1 to 5).foreach(_ => Jobs.groupBy(cluster.spark)))
      assert(
        failure.getMessage.contains("spark.shuffle.rdma.mode=required and RDMA is not up"),
        failure
      )
      SparkInternals.drainListeners(cluster.sc)
      assert(removed.get === 0)
    }
  }
}
