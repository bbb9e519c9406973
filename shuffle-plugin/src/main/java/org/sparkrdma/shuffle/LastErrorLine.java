// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats the message about a wrong setting as the last ERROR line of the driver. Spark prints the
 * exception of the shuffle manager below its own reflection exceptions, in about forty lines.
 * Thread-safe.
 */
final class LastErrorLine {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleManager.class);

  /** Runs after Spark's own hooks, which log as well. */
  private static final int PRIORITY = 1;

  private static String sentence;
  private static boolean registered;

  private LastErrorLine() {}

  /** Logs the message when this JVM ends, unless {@link #clear} is called before. */
  static synchronized void set(String message) {
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
  static synchronized void clear() {
    sentence = null;
  }

  private static synchronized void print() {
    if (sentence != null) {
      LOG.error(sentence);
    }
  }
}
