// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import org.apache.spark.SparkConf
import org.apache.spark.SparkEnv
import org.apache.spark.rdd.RDD
import org.apache.spark.resource.ExecutorResourceRequests
import org.apache.spark.resource.ResourceProfile
import org.apache.spark.resource.ResourceProfileBuilder
import org.apache.spark.resource.TaskResourceRequests

/** Executors whose memoryOverhead a ResourceProfile sets, under a cluster manager that enforces it.
  */
final class ResourceProfileSuite extends ScenarioSuite {
  private val MiB = 1L << 20
  private val Factor = "spark.executor.memoryOverheadFactor"

  test("should derive the limit of pinned memory from the overhead of the executor's profile") {
    SparkCluster.runOnTwoHosts(conf(), coresEach = 2, HeldMemoryClusterManager.PREFIX) { cluster =>
      // No shuffle is registered when the profile is added.
      val ofProfile =
        ResourceProfileSuite.limits(Jobs.reduced(cluster.sc).withResources(profile("384m")))
      val ofApplication = ResourceProfileSuite.limits(Jobs.reduced(cluster.sc))
      assert(ofProfile.values.toSet === Set(64 * MiB), ofProfile)
      assert(ofApplication.values.toSet === Set(256 * MiB), ofApplication)
    }
  }

  test("should derive an overhead that no profile sets from the memory of the application") {
    val factor = conf().remove("spark.executor.memoryOverhead").set(Factor, "1.0")
    SparkCluster.runOnTwoHosts(factor, coresEach = 2, HeldMemoryClusterManager.PREFIX) { cluster =>
      val larger = profile(new ExecutorResourceRequests().cores(1).memory("768m"))
      val limits = ResourceProfileSuite.limits(Jobs.reduced(cluster.sc).withResources(larger))
      assert(limits.values.toSet === Set(128 * MiB), limits)
    }
  }

  private def profile(overhead: String): ResourceProfile =
    profile(new ExecutorResourceRequests().cores(1).memory("512m").memoryOverhead(overhead))

  private def profile(executor: ExecutorResourceRequests): ResourceProfile = {
    new ResourceProfileBuilder()
      .require(executor)
      .require(new TaskResourceRequests().cpus(1))
      .build()
  }

  /** Each Worker has room for an executor of each profile. */
  private def conf(): SparkConf =
    Clusters
      .soft()
      .set("spark.executor.memory", "512m")
      .set("spark.executor.memoryOverhead", "768m")
      .set("spark.executor.cores", "1")
      .set("spark.dynamicAllocation.enabled", "true")
      .set("spark.dynamicAllocation.shuffleTracking.enabled", "true")
      .set("spark.dynamicAllocation.initialExecutors", "2")
      .set("spark.dynamicAllocation.maxExecutors", "2")
}

private object ResourceProfileSuite {
  private val PauseNs = 10_000_000L
  private val LimitNs = TimeUnit.SECONDS.toNanos(60)

  /** The limit of each executor that runs a task of this RDD. */
  def limits(rdd: RDD[_]): Map[String, Long] =
    rdd
      .mapPartitions { _ =>
        val endNs = System.nanoTime() + LimitNs
        while (SparkInternals.gauge("pinned.limit") == 0 && System.nanoTime() < endNs) {
          LockSupport.parkNanos(PauseNs)
        }
        Iterator(SparkEnv.get.executorId -> SparkInternals.gauge("pinned.limit"))
      }
      .collect()
      .toMap
}
