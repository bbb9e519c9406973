// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.ffi.CmLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.SetUpCalls;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/** The two libraries, and exceptions for their failures. */
record Libraries(VerbsLibrary verbs, CmLibrary cm) {
  /** The failure of this thread's last call; {@code details} are name=value pairs. */
  static VerbsException failure(String call, String details) {
    return failure(call, SetUpCalls.errno(), details);
  }

  /** Same as {@link #failure(String, String)}, for a call that returns its errno. */
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
