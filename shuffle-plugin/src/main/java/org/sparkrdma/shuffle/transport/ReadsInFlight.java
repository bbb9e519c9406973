// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;

/**
 * Limits the bytes of READs that this executor has posted, over all connections, to a maximum: many
 * servers that send to one reader at once would overflow the buffers of a switch (incast).
 * Connections that find no room wait in order. A suspect one counts no longer, so that a peer that
 * hangs does not stop the others. Confined to the agent.
 */
final class ReadsInFlight {
  private final long maxBytes;
  private final ArrayDeque<ReadPipeline> waiting = new ArrayDeque<>();
  private long postedBytes;

  /**
   * @param maxBytes at least the length of the longest READ
   */
  ReadsInFlight(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Takes bytes for a READ of a connection.
   *
   * @param first whether the connection is the first one that waited, and has its turn now
   * @return false when the connection must wait; {@link #serve} gives it its turn
   */
  boolean tryTake(ReadPipeline reads, int lengthBytes, boolean first) {
    if (lengthBytes <= maxBytes - postedBytes && (first || waiting.isEmpty())) {
      postedBytes += lengthBytes;
      return true;
    }
    if (!first) {
      waiting.add(reads);
    }
    return false;
  }

  /** READs have completed, make no progress, or their queue pair is destroyed. */
  void giveBack(long lengthBytes) {
    postedBytes -= lengthBytes;
  }

  /** Gives turns to the connections that wait, as far as there is room. */
  int serve() {
    int served = 0;
    while (!waiting.isEmpty() && waiting.peek().postReads(true)) {
      waiting.poll();
      served++;
    }
    return served;
  }

  /** A connection ends. */
  void remove(ReadPipeline reads) {
    waiting.remove(reads);
  }

  /** Bytes of READs that are posted and count. */
  long postedBytes() {
    return postedBytes;
  }
}
