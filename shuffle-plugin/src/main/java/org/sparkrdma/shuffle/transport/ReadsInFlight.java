// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;

/**
 * Limits the bytes of READs that this executor has posted, over all connections, to a maximum: many
 * servers that send to one reader at once would overflow the buffers of a switch (incast).
 * Connections that find no room wait in order, for one READ each, so that a slow peer delays others
 * by one READ at most. A suspect one counts no longer, so that a peer that hangs does not stop the
 * others. Confined to the agent.
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
   * @param first whether it is the first READ of the connection that waited, and has its turn now
   * @return false when the connection must {@link #await wait}
   */
  boolean tryTake(int lengthBytes, boolean first) {
    if (lengthBytes <= maxBytes - postedBytes && (first || waiting.isEmpty())) {
      postedBytes += lengthBytes;
      return true;
    }
    return false;
  }

  /** The connection waits; {@link #serve} gives it its turn. */
  void await(ReadPipeline reads) {
    waiting.add(reads);
  }

  /** READs have completed, make no progress, or their queue pair is destroyed. */
  void giveBack(long lengthBytes) {
    postedBytes -= lengthBytes;
  }

  /** Gives turns to the connections that wait, as far as there is room. */
  int serve() {
    int served = 0;
    for (ReadPipeline next = waiting.poll(); next != null; next = waiting.poll()) {
      long earlierBytes = postedBytes;
      boolean waits = !next.postReads(true);
      if (waits && postedBytes == earlierBytes) {
        // There is no room for its next READ.
        waiting.addFirst(next);
        return served;
      }
      if (waits) {
        waiting.add(next);
      }
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
