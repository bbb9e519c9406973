// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

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
  private val OurWarning = """\S+ (\d+) WARN \S+ \[[^\]]*\] (.*RDMA.*)""".r

  /** Runs `DeliveredJob` with these arguments of spark-submit. */
  def run(name: String, arguments: String*): Submission = {
    val directory = Files.createTempDirectory(name)
    val output = directory.resolve("output.log")
    val log = directory.resolve("all-processes.log")
    val builder = new ProcessBuilder(command(arguments).asJava)
    builder.directory(directory.toFile)
    builder.redirectErrorStream(true)
    builder.redirectOutput(output.toFile)
    builder.environment.put("IT_LOG", log.toString)
    Seq("SPARK_DIST_CLASSPATH", "SPARK_TESTING").foreach(builder.environment.remove(_))
    val process = builder.start()
    try {
      if (!process.waitFor(LimitSeconds, TimeUnit.SECONDS)) {
        throw new AssertionError(s"spark-submit is not done after $LimitSeconds s")
      }
    } finally {
      process.descendants().forEach(child => child.destroyForcibly(): Unit)
      process.destroyForcibly(): Unit
    }
    val printed = Files.readString(output)
    if (process.exitValue() != 0) {
      throw new AssertionError(s"spark-submit failed: $printed")
    }
    Submission(printed, warnings(log))
  }

  /** The only repository, so that nothing is downloaded. */
  def ivySettings(repository: Path): Path = {
    val settings = Files.createTempFile("ivysettings", ".xml")
    Files.writeString(
      settings,
      s"""<ivysettings>
         |  <settings defaultResolver="local"/>
         |  <resolvers>
         |    <ibiblio name="local" m2compatible="true" root="${repository.toUri}"/>
         |  </resolvers>
         |</ivysettings>
         |""".stripMargin
    )
  }

  private def command(arguments: Seq[String]): Seq[String] = {
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    Seq(java, "-Xmx512m") ++ sys.props("it.jvm.options").split(" +") ++ Seq(
      "-cp",
      sys.props("it.spark.path"),
      "org.apache.spark.deploy.SparkSubmit",
      "--master",
      Clusters.master(coresEach = 1),
      "--conf",
      "spark.shuffle.manager=org.sparkrdma.shuffle.RdmaShuffleManager"
    ) ++ arguments ++ Seq(
      "--class",
      "org.sparkrdma.scenarios.DeliveredJob",
      sys.props("it.jobs.jar")
    )
  }

  private def warnings(log: Path): Seq[Warning] =
    Files.readAllLines(log).asScala.toSeq.collect { case OurWarning(pid, text) =>
      Warning(pid.toLong, text)
    }
}
