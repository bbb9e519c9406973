// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.io.IOException;
import org.sparkrdma.verbs.VerbsException;

/** Turns DiSNI's exceptions into VerbsExceptions. DiSNI reports the errno as text only. */
final class Failures {
  private Failures() {}

  static VerbsException of(String call, Exception cause, String details) {
    return new VerbsException(call, message(call, cause, details), cause);
  }

  static String message(String call, Exception cause, String details) {
    String text = cause.getMessage() == null ? cause.toString() : cause.getMessage().strip();
    return call + " failed: " + text + (details.isEmpty() ? "" : ": " + details);
  }

  /** Checks a call that reports failure by its return value. */
  static void check(String call, int rc) throws IOException {
    if (rc != 0) {
      throw new IOException(call + ": rc=" + rc);
    }
  }
}
