// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.io.FileOutputStream
import java.nio.charset.StandardCharsets
import java.nio.file.Files
import java.nio.file.Path
import java.util.jar.JarEntry
import java.util.jar.JarOutputStream

import scala.util.Using

import org.apache.spark.SparkConf
import org.sparkrdma.verbs.spi.VerbsProvider

/** Adds an engine of the tests to executors. */
private[scenarios] object EngineJar {

  /** Returns the configuration, whose executors find the engine.
    *
    * @param provider
    *   in the jar of the tests
    */
  def addTo(conf: SparkConf, provider: Class[_ <: VerbsProvider]): SparkConf =
    // Behind Spark's class path: with a jar before it executors could not use the archive of classes.
    conf.set(
      "spark.executorEnv.SPARK_DIST_CLASSPATH",
      sys.env("SPARK_DIST_CLASSPATH") + ":" + jar(provider)
    )

  /** A jar with only the service file that names the engine. */
  private def jar(provider: Class[_]): Path = {
    val jar = Files.createTempFile("engine", ".jar")
    Using.resource(new JarOutputStream(new FileOutputStream(jar.toFile))) { out =>
      out.putNextEntry(new JarEntry(s"META-INF/services/${classOf[VerbsProvider].getName}"))
      out.write(provider.getName.getBytes(StandardCharsets.UTF_8))
      out.closeEntry()
    }
    jar
  }
}
