// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path

/** A finished application that spark-submit ran on a local cluster.
  *
  * @param output
  *   of the driver
  * @param warnings
  *   of the plug-in, in all its processes
  */
private[scenarios] final case class Submission(output: String, warnings: Seq[Submission.Warning]) {
  def delivered: (Long, Long, Long) =
    DeliveredJob.parse(output).getOrElse(throw new AssertionError(output))
}

private[scenarios] object Submission {
  final case class Warning(pid: Long, text: String)

  private val LimitSeconds = 120L
  private val Before = Seq(
    "--master",
    Clusters.master(coresEach = 1),
    "--conf",
    "spark.shuffle.manager=org.sparkrdma.shuffle.RdmaShuffleManager"
  )
  private val After =
    Seq("--class", "org.sparkrdma.scenarios.DeliveredJob", sys.props("it.jobs.jar"))
  private val OurWarning = """\S+ (\d+) WARN \S+ \[[^\]]*\] (.*RDMA.*)""".r

  /** Runs `DeliveredJob` with these arguments of spark-submit. */
  def run(name: String, arguments: String*): Submission = {
    val submit =
      SparkJvm.start(name, "org.apache.spark.deploy.SparkSubmit", Before ++ arguments ++ After)
    if (submit.exitCode(LimitSeconds) != 0) {
      throw new AssertionError(s"spark-submit failed: ${submit.printed}")
    }
    Submission(
      submit.printed,
      submit.warnings.collect { case OurWarning(pid, text) => Warning(pid.toLong, text) }
    )
  }

  /** Settings of Ivy with one repository, so that nothing is downloaded; it has only the plug-in.
    */
  def ivySettings(): Path = {
    val repository = Files.createTempDirectory("repository")
    val parts = sys.props("it.plugin.coordinates").split(":")
    val (group, name, version) = (parts(0), parts(1), parts(2))
    def put(artifact: String, kind: String, file: Path): Unit = {
      val folder = repository.resolve(s"${group.replace('.', '/')}/$artifact/$version")
      Files.copy(file, Files.createDirectories(folder).resolve(s"$artifact-$version.$kind")): Unit
    }
    val project = Path.of(sys.props("it.project"))
    put("spark-rdma-parent", "pom", project.resolve("pom.xml"))
    put(name, "pom", project.resolve("shuffle-plugin/dependency-reduced-pom.xml"))
    put(name, "jar", Path.of(sys.props("it.plugin.jar")))
    Files.writeString(
      Files.createTempFile("ivysettings", ".xml"),
      s"""<ivysettings>
         |  <settings defaultResolver="local"/>
         |  <resolvers>
         |    <ibiblio name="local" m2compatible="true" root="${repository.toUri}"/>
         |  </resolvers>
         |</ivysettings>
         |""".stripMargin
    )
  }
}
