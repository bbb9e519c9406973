// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * The reason why a connection must be closed, and the blocks that caused it.
 *
 * @param reason fallback reason of the blocks at fault
 * @param detail a few words for a log, without secrets
 * @param atFault blocks that use TCP; other requests on that connection are reissued on a new one
 */
record BrokenConnection(FallbackReason reason, String detail, List<BlockProgress> atFault) {
  /**
   * Whether a later cause says more: which block it was, or that it was a fault of the peer. A
   * disconnect event may be received before the failed completion that caused it, or after it.
   */
  boolean isLessThan(BrokenConnection later) {
    boolean onlyLost = reason == FallbackReason.LOST_PEER;
    return atFault.isEmpty()
        && (!later.atFault.isEmpty() || (onlyLost && later.reason != FallbackReason.LOST_PEER));
  }

  static BrokenConnection connectionLost(String detail) {
    return new BrokenConnection(FallbackReason.LOST_PEER, detail, List.of());
  }
}
