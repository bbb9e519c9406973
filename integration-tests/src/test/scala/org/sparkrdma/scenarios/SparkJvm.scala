// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._
import scala.util.matching.Regex

/** A JVM that runs a main class with only Spark's jars on its class path. Killed by its creator.
  */
private[scenarios] final class SparkJvm private (process: Process, output: Path, log: Path) {

  /** Its output so far. */
  def printed: String = Files.readString(output)

  /** Lines of WARN and ERROR in its log so far. */
  def warnings: Seq[String] =
    if (Files.exists(log)) Files.readAllLines(log).asScala.filter(SparkJvm.isWarning).toSeq else Nil

  /** The first match in its log so far. */
  def logged(pattern: Regex): Option[Regex.Match] =
    if (Files.exists(log)) pattern.findFirstMatchIn(Files.readString(log)) else None

  /** The rest of the output line that begins with this word. */
  def valueAfter(word: String): Option[String] =
    printed.linesIterator.find(_.startsWith(word + " ")).map(_.stripPrefix(word + " "))

  def alive: Boolean = process.isAlive

  /** Waits for its end, for so long at most; afterwards none of its child processes is left. */
  def exitCode(limitSeconds: Long): Int =
    try {
      assert(process.waitFor(limitSeconds, TimeUnit.SECONDS), s"not over in $limitSeconds s")
      process.exitValue
    } finally {
      process.descendants().forEach(child => child.destroyForcibly(): Unit)
      kill()
    }

  /** Kills it with SIGKILL, but not its child processes. */
  def kill(): Unit = {
    process.destroyForcibly().waitFor(): Unit
  }
}

private[scenarios] object SparkJvm {
  private val Warning = "[0-9:.]+ [0-9]+ (WARN|ERROR|FATAL) .*"

  private def isWarning(line: String): Boolean = line.matches(Warning)

  /** Starts it.
    *
    * @param name
    *   of its working directory
    * @param moreJars
    *   on its class path
    */
  def start(
      name: String,
      mainClass: String,
      arguments: Seq[String],
      moreJars: Seq[String] = Nil
  ): SparkJvm = {
    val directory = Files.createTempDirectory(name)
    val output = directory.resolve("output.log")
    val builder = new ProcessBuilder((command(mainClass, moreJars) ++ arguments).asJava)
    builder.directory(directory.toFile)
    builder.redirectErrorStream(true)
    builder.redirectOutput(output.toFile)
    val log = directory.resolve("all-processes.log")
    builder.environment.put("IT_LOG", log.toString)
    Seq("SPARK_DIST_CLASSPATH", "SPARK_TESTING").foreach(builder.environment.remove(_))
    new SparkJvm(builder.start(), output, log)
  }

  private def command(mainClass: String, moreJars: Seq[String]): Seq[String] = {
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    val classPath = (sys.props("it.spark.path") +: moreJars).mkString(":")
    Seq(java, "-Xmx512m") ++ sys.props("it.jvm.options").split(" +") ++
      Seq("-cp", classPath, mainClass)
  }
}
