// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

import scala.jdk.CollectionConverters._

import org.apache.hadoop.util.ShutdownHookManager

/** The end of this JVM by SIGTERM, held when the plug-in's own shutdown hook is over, before those
  * of Spark, until the driver allows it to go on, or for a minute. Safe for any thread.
  */
private[scenarios] object HeldEnd {
  private val HookOfPlugin = "rdma-runtime-shutdown"

  /** Runs before Spark's own hooks, whose priority is at most 50. */
  private val Priority = 1_000
  private val LimitNs = TimeUnit.SECONDS.toNanos(60)
  private val PauseNs = 1_000_000L

  private val reached = new CountDownLatch(1)

  /** Ends this JVM and returns when it is held.
    *
    * @param file
    *   by which the driver lets the end go on
    */
  def begin(file: Path): Unit = {
    val hooks = hooksOfPlugin()
    require(hooks.nonEmpty, s"no hook with the name $HookOfPlugin")
    ShutdownHookManager
      .get()
      .addShutdownHook(
        () => {
          reached.countDown()
          pauseUntil(Files.exists(file))
        },
        Priority,
        LimitNs,
        TimeUnit.NANOSECONDS
      )
    sun.misc.Signal.raise(new sun.misc.Signal("TERM"))
    require(reached.await(LimitNs, TimeUnit.NANOSECONDS), "the hook has not begun")
    hooks.foreach(hook => pauseUntil(hook.getState == Thread.State.TERMINATED))
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
