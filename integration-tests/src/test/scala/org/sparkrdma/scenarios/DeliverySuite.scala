// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path

/** The plug-in's jar passed to spark-submit as users do, with nothing else on the class paths. */
final class DeliverySuite extends ScenarioSuite {
  test("should read by RDMA with --packages of a local Maven repository") {
    val settings = Seq(
      "spark.shuffle.manager" -> "org.sparkrdma.shuffle.RdmaShuffleManager",
      "spark.jars.ivySettings" -> ivySettings().toString,
      "spark.jars.ivy" -> Files.createTempDirectory("ivy").toString,
      "spark.shuffle.rdma.engine" -> "soft",
      "spark.shuffle.rdma.waits.factor" -> "100",
      "spark.shuffle.readHostLocalDisk" -> "false"
    )
    val submit = SparkJvm.start(
      "packages",
      "org.apache.spark.deploy.SparkSubmit",
      Seq("--master", Clusters.master(coresEach = 1)) ++
        Seq("--packages", sys.props("it.plugin.coordinates")) ++
        settings.flatMap { case (key, value) => Seq("--conf", s"$key=$value") } ++
        Seq("--class", "org.sparkrdma.scenarios.DeliveredJob", sys.props("it.jobs.jar"))
    )
    assert(submit.exitCode(limitSeconds = 120) === 0, submit.printed)
    val delivered = DeliveredJob.parse(submit.printed)
    assert(delivered.isDefined, submit.printed)
    val (rdma, tcp, remote) = delivered.get
    assert(rdma > 0)
    assert(tcp === 0)
    assert(rdma === remote)
    assert(submit.warnings.filter(_.contains("RDMA")) === Nil)
  }

  /** Settings of Ivy with one repository, so that nothing is downloaded; it has only the plug-in.
    */
  private def ivySettings(): Path = {
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
