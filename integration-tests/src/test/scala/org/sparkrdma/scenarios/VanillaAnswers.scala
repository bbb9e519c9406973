// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.io.ObjectInputStream
import java.io.ObjectOutputStream
import java.nio.channels.FileChannel
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption
import java.nio.file.StandardOpenOption.CREATE
import java.nio.file.StandardOpenOption.WRITE
import java.security.MessageDigest
import java.util.zip.ZipFile

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.SPARK_VERSION

/** Results of Spark without the plug-in: computed once for all suites and cached in the build
  * directory until the jobs, Spark or Java change. Confined to the test's thread.
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

  /** The result of that name; every caller must use the name for the same computation. */
  def of[T](name: String)(compute: SparkCluster => T): T = {
    val kept = directory.resolve(name)
    // Another suite that runs at the same time may need the same answer.
    Using.resource(FileChannel.open(directory.resolve(s"$name.lock"), CREATE, WRITE)) { channel =>
      channel.lock()
      if (!Files.exists(kept)) {
        val answer = SparkCluster.runVanilla(compute)
        val unfinished = directory.resolve(s"$name.unfinished")
        Using.resource(new ObjectOutputStream(Files.newOutputStream(unfinished)))(
          _.writeObject(answer)
        )
        Files.move(unfinished, kept, StandardCopyOption.ATOMIC_MOVE)
      }
    }
    Using.resource(new ObjectInputStream(Files.newInputStream(kept)))(
      _.readObject().asInstanceOf[T]
    )
  }

  /** Results of all common jobs by name. */
  def everyday: Map[String, Any] = of("everyday") { cluster =>
    Jobs.all.map { case (name, job) => name -> job(cluster.spark) }.toMap
  }

  /** The result of `Jobs.reduced`. */
  def reduced: Set[(Int, Long)] =
    of("reduced")(cluster => Jobs.reduced(cluster.sc).collect().toSet)
}
