package org.sparkrdma.shuffle.transport;

import java.util.List;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Why a connection is to be ended, and whose fault it was.
 *
 * @param reason for those at fault
 * @param detail a few words for a log, without secrets
 * @param atFault blocks that go by TCP; those of others are asked for once more on a new connection
 */
record BrokenConnection(FallbackReason reason, String detail, List<BlockProgress> atFault) {
  static BrokenConnection nobodysFault(String detail) {
    return new BrokenConnection(FallbackReason.LOST_PEER, detail, List.of());
  }
}
