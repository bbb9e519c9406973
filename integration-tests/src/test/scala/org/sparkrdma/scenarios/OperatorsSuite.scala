// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path

import org.scalatest.BeforeAndAfterAll

/** Common operators on one cluster. */
final class OperatorsSuite extends ScenarioSuite with BeforeAndAfterAll {
  private lazy val expected: Map[String, Any] = VanillaAnswers.everyday

  private var cluster: SparkCluster = _

  override def beforeAll(): Unit = {
    super.beforeAll()
    assert(expected.size === Jobs.all.size)
    cluster = SparkCluster.start(Clusters.soft())
  }

  override def afterAll(): Unit =
    try Option(cluster).foreach(_.close())
    finally super.afterAll()

  /** Else each executor of all suites takes seconds longer to start. */
  test("its executors should map the archive of Spark's classes, if the build has one") {
    OperatorsSuite.archive.foreach { archive =>
      val mapped = cluster.onEveryExecutor(OperatorsSuite.maps).filter(_._2.contains(archive))
      assert(mapped.size === 2, s"executors that use $archive: ${mapped.keys}")
    }
  }

  for ((name, job) <- Jobs.all) {
    test(s"$name should return vanilla Spark's result, by READ") {
      val (result, traffic) = cluster.trafficOf(job(cluster.spark))
      assert(result === expected(name))
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
  }

  test("its executors should check nothing, because spark.shuffle.rdma.doctor is not set") {
    val log = Files.readString(Path.of(sys.env("IT_LOG")))
    assert(log.contains("RDMA is up"))
    assert(!log.contains("Checks of executor "))
  }
}

private object OperatorsSuite {

  /** Path of the archive that the environment names for all JVMs of this run. */
  def archive: Option[String] =
    "-XX:SharedArchiveFile=([^\"]*)".r
      .findFirstMatchIn(sys.env.getOrElse("JDK_JAVA_OPTIONS", ""))
      .map(_.group(1))

  /** The files and devices that a process has mapped. */
  val maps: () => String = () => Files.readString(Path.of("/proc/self/maps"))
}
