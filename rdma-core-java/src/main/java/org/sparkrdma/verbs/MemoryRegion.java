// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.util.Set;

/**
 * Registered memory, see ibv_reg_mr(3).
 *
 * <p>Safe for any thread. The caller that registered it closes it, after the completions of its own
 * work with it. Closing returns when no operation of a peer on it is in progress: from then on no
 * byte of it can reach a peer. A second close does nothing.
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
