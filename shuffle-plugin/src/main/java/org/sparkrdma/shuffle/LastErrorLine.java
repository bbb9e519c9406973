// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle;

import org.apache.hadoop.util.ShutdownHookManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats a wrong setting as the last ERROR line of a driver that ends because of it. Spark prints
 * the exception of the shuffle manager below that of its own reflection, in some forty lines.
 * Thread-safe.
 */
final class LastErrorLine {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleManager.class);

  /** Below Spark's own hooks, which log as well. */
  private static final int PRIORITY = 1;

  private static String sentence;
  private static boolean registered;

  private LastErrorLine() {}

  /** Logs the sentence when this JVM ends, unless {@link #clear} comes first. */
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

  /** Forgets the sentence: a shell has started an application after all. */
  static synchronized void clear() {
    sentence = null;
  }

  private static synchronized void print() {
    if (sentence != null) {
      LOG.error(sentence);
    }
  }
}
