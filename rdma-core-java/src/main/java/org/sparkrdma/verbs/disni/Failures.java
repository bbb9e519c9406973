// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;

/**
 * Turns DiSNI's exceptions into VerbsExceptions, or logs them. DiSNI reports the errno as text
 * only.
 */
final class Failures {
  private static final Logger LOG = LoggerFactory.getLogger(Failures.class);

  private Failures() {}

  /** Calls of DiSNI. */
  @FunctionalInterface
  interface Call<T> {
    T run() throws IOException;
  }

  /** Runs calls that return an object; {@code details} are name=value pairs. */
  static <T> T call(String name, String details, Call<T> call) throws VerbsException {
    try {
      return call.run();
    } catch (IOException e) {
      throw of(name, e, details);
    }
  }

  /** Destroys an object. A failure is only logged, because nothing can repeat it. */
  static void release(String name, Callable<Integer> release) {
    try {
      int rc = release.call();
      if (rc != 0) {
        LOG.error("DiSNI does not release an object: call={} rc={}", name, rc);
      }
    } catch (Exception e) {
      LOG.error("DiSNI does not release an object: call={}", name, e);
    }
  }

  static VerbsException of(String call, Exception cause, String details) {
    return new VerbsException(call, message(call, cause, details), cause);
  }

  static String message(String call, Exception cause, String details) {
    String text = cause.getMessage() == null ? cause.toString() : cause.getMessage().strip();
    return call + " failed: " + text + (details.isEmpty() ? "" : ": " + details);
  }
}
