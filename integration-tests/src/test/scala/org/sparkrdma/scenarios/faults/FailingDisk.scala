// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit

import scala.util.Using

import org.apache.spark.SparkConf

/** A library that makes reads of map outputs fail in executors (`failing_disk.c`). Confined to the
  * test's thread.
  */
private[faults] final class FailingDisk private (library: Path, begin: Path) {

  /** Loads the library into the executors. */
  def loadInto(conf: SparkConf): SparkConf =
    conf
      .set("spark.executorEnv.LD_PRELOAD", library.toString)
      .set("spark.executorEnv.FAILING_DISK", begin.toString)

  /** Makes each map output that exists now unreadable. */
  def fail(): Unit = {
    Files.createFile(begin): Unit
  }

  /** Number of calls that failed. */
  def hits: Int = {
    val counted = begin.resolveSibling(s"${begin.getFileName}.hits")
    if (Files.exists(counted)) Files.size(counted).toInt else 0
  }
}

private[faults] object FailingDisk {
  private val Source = "/faults/failing_disk.c"
  private val CompilerSeconds = 60L

  def hasCompiler: Boolean =
    Files.exists(Path.of("/usr/include/stdio.h")) &&
      sys.env("PATH").split(":").exists(folder => Files.isExecutable(Path.of(folder, "cc")))

  /** Compiles the library. */
  def make(): FailingDisk = {
    val folder = Files.createTempDirectory("failing-disk")
    val source = folder.resolve("failing_disk.c")
    val library = folder.resolve("failing_disk.so")
    Using.resource(getClass.getResourceAsStream(Source))(in => Files.copy(in, source)): Unit
    val compiler = new ProcessBuilder(
      Seq("cc", "-Wall", "-O1", "-shared", "-fPIC", "-o", library, source).map(
        _.toString
      ): _*
    ).redirectErrorStream(true).redirectOutput(folder.resolve("cc.log").toFile).start()
    try {
      require(
        compiler.waitFor(CompilerSeconds, TimeUnit.SECONDS) && compiler.exitValue() == 0,
        s"the compiler failed: ${Files.readString(folder.resolve("cc.log"))}"
      )
    } finally compiler.destroyForcibly(): Unit
    new FailingDisk(library, folder.resolve("begin"))
  }
}
