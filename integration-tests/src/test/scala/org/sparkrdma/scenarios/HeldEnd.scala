// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import scala.jdk.CollectionConverters._

import org.apache.hadoop.util.ShutdownHookManager
import org.apache.spark.SparkEnv
import org.sparkrdma.shuffle.RdmaShuffleManager

/** The end of this JVM by SIGTERM, held after one of its steps until the driver allows it to go on,
  * or for a minute. Safe for any thread.
  */
private[scenarios] object HeldEnd {

  /** The plug-in's own shutdown hook is over, and Spark's have not begun. */
  val JvmHook = "own shutdown hook"

  /** Spark has stopped the shuffle manager in a shutdown hook, and nothing after it. */
  val ManagerStop = "shuffle manager's stop"

  private val HookOfPlugin = "rdma-runtime-shutdown"

  /** Runs before Spark's own hooks, whose priority is at most 50. */
  private val Priority = 1_000
  private val LimitNs = TimeUnit.SECONDS.toNanos(60)
  private val PauseNs = 1_000_000L

  private val reached = new CountDownLatch(1)
  @volatile private var goesOn: Option[Path] = None

  /** Ends this JVM and returns when the step is over.
    *
    * @param file
    *   by which the driver lets the end go on
    */
  def begin(step: String, file: Path): Unit = {
    val hooks = hooksOfPlugin()
    require(
      hooks.nonEmpty == SparkEnv.get.shuffleManager.isInstanceOf[RdmaShuffleManager],
      s"no hook with the name $HookOfPlugin"
    )
    if (step == JvmHook) {
      ShutdownHookManager
        .get()
        .addShutdownHook(() => hold(file), Priority, LimitNs, TimeUnit.NANOSECONDS)
    } else {
      goesOn = Some(file)
    }
    sun.misc.Signal.raise(new sun.misc.Signal("TERM"))
    require(reached.await(LimitNs, TimeUnit.NANOSECONDS), s"step not reached: $step")
    hooks.foreach(hook => pauseUntil(hook.getState == Thread.State.TERMINATED))
  }

  /** Called by shuffle managers at the end of their stop. */
  def atManagerStop(): Unit = goesOn.foreach(hold)

  private def hold(file: Path): Unit = {
    reached.countDown()
    pauseUntil(Files.exists(file))
  }

  private def pauseUntil(condition: => Boolean): Unit = {
    val begunNs = System.nanoTime()
    while (!condition && System.nanoTime() - begunNs < LimitNs) {
      LockSupport.parkNanos(PauseNs)
    }
  }

  /** The hooks of a JVM have no accessor. Spark's options open the package. */
  private def hooksOfPlugin(): Seq[Thread] = {
    val field = Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks")
    field.setAccessible(true)
    val all = field.get(null).asInstanceOf[java.util.Map[Thread, Thread]]
    all.keySet.asScala.filter(_.getName == HookOfPlugin).toSeq
  }
}
