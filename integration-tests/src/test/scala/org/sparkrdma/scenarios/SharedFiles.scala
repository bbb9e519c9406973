// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Using

/** Files that the loopback devices share with their peers: a directory for each process, with a
  * link for each registered file.
  */
private[scenarios] object SharedFiles {
  private val Base = Path.of("/dev/shm")

  /** Files that these processes have registered. */
  def registered(pids: Iterable[Long]): Int =
    pids.flatMap(directories).map(entries).map(_.count(Files.isSymbolicLink)).sum

  /** Whether any file of these processes exists. */
  def leftOf(pids: Iterable[Long]): Seq[Path] = pids.flatMap(directories).toSeq

  private def directories(pid: Long): Seq[Path] =
    entries(Base)
      .filter(_.getFileName.toString.startsWith("sparkrdma-soft-"))
      .flatMap(entries)
      .filter(_.getFileName.toString.startsWith(s"$pid-"))

  private def entries(directory: Path): Seq[Path] =
    if (Files.isDirectory(directory) && Files.isReadable(directory)) {
      Using.resource(Files.list(directory))(_.iterator().asScala.toList)
    } else {
      Nil
    }
}
