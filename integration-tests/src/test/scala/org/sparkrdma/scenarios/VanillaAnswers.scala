// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.io.ObjectInputStream
import java.io.ObjectOutputStream
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption
import java.security.MessageDigest
import java.util.zip.ZipFile

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.SparkConf
import org.apache.spark.SPARK_VERSION

/** What Spark without the plug-in answers: computed once for all suites, and kept under the build
  * directory for as long as the jobs, Spark and Java stay the same. Used by the test's thread.
  */
private[scenarios] object VanillaAnswers {
  private val ClassesOfJobs = "org/sparkrdma/scenarios/"

  private lazy val directory: Path = {
    val inputs = MessageDigest.getInstance("SHA-256")
    inputs.update(s"$SPARK_VERSION ${Runtime.version().feature()}".getBytes("UTF-8"))
    Using.resource(new ZipFile(sys.props("it.jobs.jar"))) { jar =>
      jar
        .entries()
        .asScala
        .filter(_.getName.startsWith(ClassesOfJobs))
        .toSeq
        .sortBy(_.getName)
        .foreach { entry =>
          inputs.update(entry.getName.getBytes("UTF-8"))
          inputs.update(jar.getInputStream(entry).readAllBytes())
        }
    }
    val key = inputs.digest().take(8).map(byte => f"$byte%02x").mkString
    Files.createDirectories(Path.of(sys.props("it.vanilla")).resolve(key))
  }

  /** The answer of that name, which stands for the same computation wherever it is asked for. */
  def of[T](name: String, conf: SparkConf = Clusters.vanilla())(compute: SparkCluster => T): T = {
    val kept = directory.resolve(name)
    if (!Files.exists(kept)) {
      val answer = SparkCluster.run(conf)(compute)
      val unfinished = directory.resolve(s"$name.unfinished")
      Using.resource(new ObjectOutputStream(Files.newOutputStream(unfinished)))(
        _.writeObject(answer)
      )
      Files.move(unfinished, kept, StandardCopyOption.ATOMIC_MOVE)
    }
    Using.resource(new ObjectInputStream(Files.newInputStream(kept)))(
      _.readObject().asInstanceOf[T]
    )
  }

  /** Of every everyday job, by its name. */
  def everyday: Map[String, Any] = of("everyday") { cluster =>
    Jobs.all.map { case (name, job) => name -> job(cluster.spark) }.toMap
  }

  /** Of `Jobs.reduced`. */
  def reduced: Set[(Int, Long)] =
    of("reduced")(cluster => Jobs.reduced(cluster.sc).collect().toSet)
}
