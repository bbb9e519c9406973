// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats the message about a wrong setting as the last ERROR line of the driver. Spark prints the
 * exception of the shuffle manager below its own reflection exceptions, in about forty lines.
 * Thread-safe.
 */
public final class LastErrorLine {
  /** The logger of the class that users configure. */
  private static final Logger LOG =
      LoggerFactory.getLogger("org.sparkrdma.shuffle.RdmaShuffleManager");

  /** Runs after Spark's own hooks, which log as well. */
  private static final int PRIORITY = 1;

  private static String sentence;
  private static boolean registered;

  private LastErrorLine() {}

  /** Logs the message when this JVM ends, unless {@link #clear} is called before. */
  public static synchronized void set(String message) {
    sentence = message;
    if (!registered) {
      registered = true;
      try {
        ShutdownHookManager.get().addShutdownHook(LastErrorLine::print, PRIORITY);
      } catch (IllegalStateException e) {
        LOG.debug("JVM is already shutting down", e);
      }
    }
  }

  /** Removes the message: a shell has started an application later. */
  public static synchronized void clear() {
    sentence = null;
  }

  private static synchronized void print() {
    if (sentence != null) {
      LOG.error(sentence);
    }
  }
}
