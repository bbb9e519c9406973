// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.nio.ByteBuffer;
import org.sparkrdma.verbs.VerbsException;

/** Direct memory of the JVM: its limit is a failure of one allocation and not of the JVM. */
public final class DirectMemory {
  private DirectMemory() {}

  /** Allocates a buffer. */
  public static ByteBuffer allocate(int lengthBytes) throws VerbsException {
    try {
      return ByteBuffer.allocateDirect(lengthBytes);
    } catch (OutOfMemoryError e) {
      throw new VerbsException(
          "mmap",
          VerbsException.ENOMEM,
          "no direct memory left, the JVM's option -XX:MaxDirectMemorySize sets how much there is:"
              + " lengthBytes="
              + lengthBytes,
          e);
    }
  }
}
