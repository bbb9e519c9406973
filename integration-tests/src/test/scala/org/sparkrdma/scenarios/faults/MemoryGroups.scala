// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._
import scala.util.Using

/** A memory control group for each executor, of version 1 or 2. Confined to the test's thread;
  * closed after the cluster.
  *
  * @param parent
  *   the group that contains them
  */
private[faults] final class MemoryGroups private (
    parent: Path,
    files: MemoryGroups.GroupFiles,
    limitBytes: Long
) extends AutoCloseable {

  /** A Java home whose `java` puts itself into a new group. */
  def javaHome(): Path = {
    val home = Files.createTempDirectory("limited-java")
    val java = Files.createDirectory(home.resolve("bin")).resolve("java")
    val group = s"'$parent'/$$$$"
    Files.writeString(
      java,
      s"""#!/bin/sh -e
         |mkdir $group
         |echo $limitBytes >$group/${files.limit}
         |echo $$$$ >$group/cgroup.procs
         |exec '${sys.props("java.home")}/bin/java' "$$@"
         |""".stripMargin
    )
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx------"))
    home
  }

  /** Number of times that the group of a process was at its limit when the process needed memory.
    */
  def timesAtLimit(pid: Long): Long = files.timesAtLimit(parent.resolve(pid.toString))

  /** Bytes of the group of a process, page cache included. */
  def usedBytes(pid: Long): Long =
    MemoryGroups.number(parent.resolve(pid.toString).resolve(files.usage))

  /** Number of processes of a group that the kernel killed for lack of memory. */
  def killed(pid: Long): Long =
    MemoryGroups.field(parent.resolve(pid.toString).resolve(files.kills), "oom_kill")

  /** Waits for the end of the processes and removes the groups. */
  override def close(): Unit = {
    MemoryGroups.children(parent).foreach { group =>
      Files.readAllLines(group.resolve("cgroup.procs")).asScala.foreach { pid =>
        ProcessHandle
          .of(pid.toLong)
          .ifPresent(process =>
            process.onExit().get(MemoryGroups.EndSeconds, TimeUnit.SECONDS): Unit
          )
      }
      Files.delete(group)
    }
    Files.delete(parent)
  }
}

private[faults] object MemoryGroups {
  private val EndSeconds = 60L
  private val Prefix = "limited-"

  /** Names of a group's files. */
  private sealed abstract class GroupFiles(
      val limit: String,
      val usage: String,
      val kills: String
  ) {
    def timesAtLimit(group: Path): Long
  }

  private case object Version1
      extends GroupFiles(
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "memory.oom_control"
      ) {
    override def timesAtLimit(group: Path): Long = number(group.resolve("memory.failcnt"))
  }

  private case object Version2 extends GroupFiles("memory.max", "memory.current", "memory.events") {
    override def timesAtLimit(group: Path): Long = field(group.resolve("memory.events"), "max")
  }

  /** Creates the groups' parent, after groups of processes that were killed before they could
    * remove them are removed. Empty where this process may not create groups with the memory
    * controller.
    */
  def create(limitBytes: Long): Option[MemoryGroups] =
    try
      ownGroup("cgroup", "memory", "memory") match {
        case Some((_, own)) => Some(new MemoryGroups(newGroup(own), Version1, limitBytes))
        case None           => inVersion2(limitBytes)
      }
    catch { case _: IOException => None }

  /** A group with processes cannot give controllers to groups in it, so the new group is in the
    * nearest one above that gives them.
    */
  private def inVersion2(limitBytes: Long): Option[MemoryGroups] =
    for {
      (mount, own) <- ownGroup("cgroup2", "", "")
      above <- Iterator
        .iterate(own)(_.getParent)
        .takeWhile(group => group != null && group.startsWith(mount))
        .find(givesMemory)
    } yield {
      val parent = newGroup(above)
      try Files.writeString(parent.resolve("cgroup.subtree_control"), "+memory")
      catch {
        case e: IOException =>
          Files.delete(parent)
          throw e
      }
      new MemoryGroups(parent, Version2, limitBytes)
    }

  /** A group for this process, named with its number. */
  private def newGroup(above: Path): Path = {
    removeAbandoned(above)
    Files.createDirectory(above.resolve(Prefix + ProcessHandle.current.pid))
  }

  private def removeAbandoned(above: Path): Unit =
    children(above).foreach { group =>
      group.getFileName.toString.stripPrefix(Prefix).toLongOption.foreach { pid =>
        if (group.endsWith(Prefix + pid) && !ProcessHandle.of(pid).isPresent) {
          try {
            children(group).foreach(Files.delete)
            Files.delete(group)
          } catch {
            case _: IOException => // A process in it is still running: a later run removes it.
          }
        }
      }
    }

  private def givesMemory(group: Path): Boolean =
    Files.readString(group.resolve("cgroup.subtree_control")).trim.split(" ").contains("memory")

  /** The mount point of a hierarchy, and the group of this process in it.
    *
    * @param kind
    *   of the file system
    * @param option
    *   of the mount; any if empty
    * @param controller
    *   of the hierarchy in `/proc/self/cgroup`
    */
  private def ownGroup(
      kind: String,
      option: String,
      controller: String
  ): Option[(Path, Path)] =
    for {
      mount <- lines(Path.of("/proc/self/mountinfo")).map(_.split(" ")).find { fields =>
        val rest = fields.drop(fields.indexOf("-") + 1)
        rest(0) == kind && (option.isEmpty || rest(2).split(",").contains(option))
      }
      path <- lines(Path.of("/proc/self/cgroup")).map(_.split(":", 3)).collectFirst {
        case Array(_, controllers, path) if controllers.split(",").contains(controller) => path
      }
    } yield {
      val point = Path.of(mount(4))
      (point, point.resolve(Path.of(mount(3)).relativize(Path.of(path)).toString).normalize())
    }

  private def children(group: Path): Seq[Path] =
    Using.resource(Files.list(group))(_.iterator.asScala.filter(Files.isDirectory(_)).toList)

  private def number(file: Path): Long = Files.readString(file).trim.toLong

  /** The number after a word in a file of such lines. */
  private def field(file: Path, word: String): Long =
    lines(file).map(_.split(" ")).collectFirst { case Array(`word`, n) => n.toLong }.get

  private def lines(file: Path): Seq[String] = Files.readAllLines(file).asScala.toSeq
}
