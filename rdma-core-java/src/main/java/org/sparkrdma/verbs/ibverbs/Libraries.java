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
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.CmLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/** The two libraries, and how their failures are told. */
record Libraries(VerbsLibrary verbs, CmLibrary cm) {
  /** What a call's last failure on this thread was; {@code details} are name=value pairs. */
  static VerbsException failure(String call, String details) {
    return failure(call, Downcalls.errno(), details);
  }

  /** As {@link #failure(String, String)}, of a call that returns its error number. */
  static VerbsException failure(String call, int errno, String details) {
    return new VerbsException(call, errno, message(call, errno, details), null);
  }

  static String message(String call, int errno, String details) {
    return call
        + " failed: errno="
        + errno
        + (" (" + Libc.strerror(errno) + ")")
        + (details.isEmpty() ? "" : " " + details);
  }
}
