/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
