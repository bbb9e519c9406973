// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.thread;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The class loader of the plug-in as that of threads. A thread inherits the one of its creator,
 * which may be a task or the driver's program: its session could never be unloaded then. Stateless.
 */
public final class PluginLoader {
  private static final Logger LOG = LoggerFactory.getLogger(PluginLoader.class);

  private PluginLoader() {}

  /** Runs what may start threads. */
  public static void run(Runnable work) {
    Thread caller = Thread.currentThread();
    ClassLoader session = caller.getContextClassLoader();
    caller.setContextClassLoader(PluginLoader.class.getClassLoader());
    try {
      work.run();
    } finally {
      caller.setContextClassLoader(session);
    }
  }

  /**
   * Starts the JDK's thread of time-outs, which the first time-out of the process starts. Where the
   * system refuses it, it refuses also the plug-in's own threads, which say so.
   */
  public static void startTimer() {
    try {
      run(
          () -> {
            var unused =
                new CompletableFuture<Void>().completeOnTimeout(null, 0, TimeUnit.NANOSECONDS);
          });
    } catch (OutOfMemoryError e) {
      LOG.debug("No timer yet", ThreadShortageException.of("CompletableFutureDelayScheduler", e));
    }
  }
}
