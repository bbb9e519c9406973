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
