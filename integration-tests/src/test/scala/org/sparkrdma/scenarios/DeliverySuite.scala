// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files

/** The plug-in's jar passed to spark-submit as users do, with nothing else on the class paths. */
final class DeliverySuite extends ScenarioSuite {
  private val Plugin = sys.props("it.plugin.jar")
  private val Version = sys.props("it.plugin.coordinates")

  test("should run from --jars with one line of configuration, and log once why RDMA is not used") {
    val submitted = Submission.run("jars", "--jars", Plugin)
    assert(submitted.delivered._1 === 0)
    assertOneWarningEach(submitted)
  }

  test("should read by RDMA with --packages of a local Maven repository") {
    val settings = Seq(
      "spark.jars.ivySettings" -> Submission.ivySettings().toString,
      "spark.jars.ivy" -> Files.createTempDirectory("ivy").toString,
      "spark.shuffle.rdma.engine" -> "soft",
      "spark.shuffle.rdma.waits.factor" -> "100",
      "spark.shuffle.readHostLocalDisk" -> "false"
    )
    val conf = settings.flatMap { case (key, value) => Seq("--conf", s"$key=$value") }
    val submitted = Submission.run("packages", Seq("--packages", Version) ++ conf: _*)
    val (rdma, tcp, remote) = submitted.delivered
    assert(rdma > 0)
    assert(tcp === 0)
    assert(rdma === remote)
    assert(submitted.warnings.isEmpty)
  }

  /** One WARN with the reasons in each process. */
  private def assertOneWarningEach(submitted: Submission): Unit = {
    val byProcess = submitted.warnings.groupBy(_.pid)
    assert(byProcess.size >= 2, s"both executors log it: ${submitted.warnings}")
    byProcess.values.foreach(logged => assert(logged.size === 1, logged))
    submitted.warnings.foreach { warning =>
      assert(warning.text.contains("RDMA is not used"), warning)
      assert(
        !warning.text.contains("disni"),
        s"the WARN names DiSNI, which is not configured: $warning"
      )
    }
    submitted.warnings.foreach(warning => assert(warning.text.contains("ibverbs: "), warning))
  }
}
