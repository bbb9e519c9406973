// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.io.IOException;
import org.sparkrdma.verbs.VerbsException;

/** Words for what DiSNI throws. It tells the system's error as text only, never as a number. */
final class Failures {
  private Failures() {}

  static VerbsException of(String call, Exception cause, String details) {
    return new VerbsException(call, message(call, cause, details), cause);
  }

  static String message(String call, Exception cause, String details) {
    String text = cause.getMessage() == null ? cause.toString() : cause.getMessage().strip();
    return call + " failed: " + text + (details.isEmpty() ? "" : ": " + details);
  }

  /** A call that tells of failure by what it returns. */
  static void check(String call, int rc) throws IOException {
    if (rc != 0) {
      throw new IOException(call + ": rc=" + rc);
    }
  }
}
