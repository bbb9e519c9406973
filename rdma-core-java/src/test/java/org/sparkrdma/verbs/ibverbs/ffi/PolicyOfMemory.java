// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

/** Reads NUMA policies, see get_mempolicy(2). */
final class PolicyOfMemory {
  static final int DEFAULT = 0;

  /** The system refuses the call, as the seccomp rules of containers do. */
  static final int UNKNOWN = -1;

  private static final int OF_ADDRESS = 2;
  private static final long SYSCALL = Symbols.ofC().get("syscall");

  private PolicyOfMemory() {}

  /** The mode of the calling thread's policy, or {@link #UNKNOWN}. */
  static int modeOfThread() {
    return mode(0, 0);
  }

  /** The mode of the policy of an address, or {@link #UNKNOWN}. */
  static int modeOf(long address) {
    return mode(address, OF_ADDRESS);
  }

  private static int mode(long address, int flags) {
    try (NativeArena arena = new NativeArena()) {
      long mode = arena.allocate(Integer.BYTES);
      int rc = Downcalls.callInt(SYSCALL, number(), mode, 0, 0, address, flags);
      return rc == 0 ? Memory.getInt(mode) : UNKNOWN;
    }
  }

  /** Number of the system call get_mempolicy. */
  private static int number() {
    return switch (Architecture.CURRENT) {
      case X86_64 -> 239;
      case AARCH64 -> 236;
    };
  }
}
