// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.nio.file.Files
import java.nio.file.Path

import org.apache.spark.SparkConf
import org.sparkrdma.scenarios.CSource

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
  def hasCompiler: Boolean =
    Files.exists(Path.of("/usr/include/stdio.h")) &&
      sys.env("PATH").split(":").exists(folder => Files.isExecutable(Path.of(folder, "cc")))

  /** Compiles the library. */
  def make(): FailingDisk = {
    val folder = Files.createTempDirectory("failing-disk")
    val library = CSource.compile("failing_disk", folder, "-shared", "-fPIC")
    new FailingDisk(library, folder.resolve("begin"))
  }
}
