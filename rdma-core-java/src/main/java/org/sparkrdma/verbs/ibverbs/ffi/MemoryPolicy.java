// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.util.function.LongSupplier;

/**
 * The NUMA memory policy of the calling thread, see set_mempolicy(2): where the kernel takes pages
 * that the thread touches first.
 */
public final class MemoryPolicy {
  static final int PREFERRED = 1;

  /** The system refuses the call, as the seccomp rules of containers do. */
  static final int UNKNOWN = -1;

  private static final int MAX_NODES = 1_024;
  private static final long SYSCALL = Symbols.ofC().get("syscall");

  private MemoryPolicy() {}

  /**
   * Calls {@code allocate} while the thread prefers pages of a node, then restores the thread's
   * policy. Where the system refuses that, only calls it.
   *
   * @param node less than 0 to keep the thread's policy
   */
  public static long preferring(int node, LongSupplier allocate) {
    if (node < 0 || node >= MAX_NODES) {
      return allocate.getAsLong();
    }
    try (NativeArena arena = new NativeArena()) {
      long before = arena.allocate(MAX_NODES / Byte.SIZE);
      long preferred = arena.allocate(MAX_NODES / Byte.SIZE);
      int mode = read(arena, before);
      Memory.putByte(preferred + node / Byte.SIZE, 1 << (node % Byte.SIZE));
      boolean isSet = mode != UNKNOWN && set(PREFERRED, preferred) == 0;
      try {
        return allocate.getAsLong();
      } finally {
        if (isSet) {
          set(mode, before);
        }
      }
    }
  }

  /** The mode of the calling thread's policy, or {@link #UNKNOWN}. */
  static int mode() {
    try (NativeArena arena = new NativeArena()) {
      return read(arena, arena.allocate(MAX_NODES / Byte.SIZE));
    }
  }

  private static int read(NativeArena arena, long nodes) {
    long mode = arena.allocate(Integer.BYTES);
    int rc =
        Downcalls.callInt(
            SYSCALL, Architecture.CURRENT.getMempolicy(), mode, nodes, MAX_NODES + 1, 0, 0);
    return rc == 0 ? Memory.getInt(mode) : UNKNOWN;
  }

  private static int set(int mode, long nodes) {
    return Downcalls.callInt(
        SYSCALL, Architecture.CURRENT.setMempolicy(), mode, nodes, MAX_NODES + 1);
  }
}
