// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

/**
 * The NUMA policy of a range of memory, see mbind(2): where the kernel takes its pages. The policy
 * of threads stays as it is.
 */
public final class MemoryPolicy {
  static final int PREFERRED = 1;

  private static final int EINVAL = 22;
  private static final int MAX_NODES = 1_024;
  private static final long SYSCALL = Symbols.ofC().get("syscall");

  private MemoryPolicy() {}

  /**
   * Makes the kernel prefer a node for the pages of a range. Pages that are present stay where they
   * are, and another node is used when this one has no free memory.
   *
   * @param address of a page
   * @return 0, or the error number
   */
  public static int prefer(int node, long address, long lengthBytes) {
    if (node < 0 || node >= MAX_NODES) {
      return EINVAL;
    }
    try (NativeArena arena = new NativeArena()) {
      long nodes = arena.allocate(MAX_NODES / Byte.SIZE);
      Memory.putByte(nodes + node / Byte.SIZE, 1 << (node % Byte.SIZE));
      int rc =
          Downcalls.callInt(
              SYSCALL,
              Architecture.CURRENT.mbind(),
              address,
              lengthBytes,
              PREFERRED,
              nodes,
              // The kernel subtracts one.
              MAX_NODES + 1,
              0);
      return rc == 0 ? 0 : Downcalls.errno();
    }
  }
}
