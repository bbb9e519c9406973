// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.util.Arrays;
import java.util.Optional;

/**
 * Processor architectures whose struct layouts are known, with what differs between them. All are
 * 64-bit and little-endian, and have the same sizes of C's basic types.
 */
public enum Architecture {
  X86_64("amd64", 40),
  AARCH64("aarch64", 48);

  /** That of this JVM. On an unknown one the engine refuses to start, and X86_64 stands for it. */
  static final Architecture CURRENT = of(System.getProperty("os.arch")).orElse(X86_64);

  private final String javaName;
  private final int pthreadMutexBytes;

  Architecture(String javaName, int pthreadMutexBytes) {
    this.javaName = javaName;
    this.pthreadMutexBytes = pthreadMutexBytes;
  }

  /** The architecture with this value of the system property {@code os.arch}. */
  public static Optional<Architecture> of(String javaName) {
    return Arrays.stream(values()).filter(a -> a.javaName.equals(javaName)).findFirst();
  }

  /** Size of pthread_mutex_t in glibc; in musl it is 40 on both. */
  int pthreadMutexBytes() {
    return pthreadMutexBytes;
  }
}
