// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.util.Set;

/**
 * Registered memory, see ibv_reg_mr(3).
 *
 * <p>Safe for any thread. The caller that registered it closes it, after the completions of its own
 * work with it. Closing returns when no operation of a peer on it is in progress: from then on none
 * succeeds. The loopback engine waits a second at most for a peer that is stopped inside a READ,
 * which fails when it goes on. A second close does nothing.
 */
public interface MemoryRegion extends AutoCloseable {
  /** {@return the address of its first byte, in the space that work requests use} */
  long address();

  /** {@return its length in bytes} */
  long lengthBytes();

  /** {@return the access that is allowed} */
  Set<AccessFlag> access();

  /**
   * {@return the address and key with which a peer accesses it} The key is a secret of both peers
   * and is never logged.
   */
  RemoteRegion remote();

  @Override
  void close();
}
