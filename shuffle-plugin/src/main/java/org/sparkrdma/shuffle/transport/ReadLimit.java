// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;

/**
 * Limits the bytes of READs that this executor has posted, over all connections, to a maximum: many
 * servers that send to one reader at once would overflow the buffers of a switch (incast). Of the
 * connections that find no room, that with the fewest bytes is next, for one READ, so that slow
 * peers keep none from others. A suspect one counts no longer, so that a peer that hangs does not
 * stop the others. Confined to the agent.
 */
final class ReadLimit {
  /** A connection has at most so many times what is free. */
  private static final int SHARE = 2;

  private final long maxBytes;
  private final ArrayDeque<ReadPipeline> waiting = new ArrayDeque<>();
  private long postedBytes;

  /** Whether something has changed since there was no room. */
  private boolean mayServe;

  /**
   * @param maxBytes at least the length of the longest READ
   */
  ReadLimit(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Takes bytes for a READ of a connection, which has at most twice as much as it leaves free.
   *
   * @param ownBytes what it has
   * @param first whether it is the first READ of the connection that waited, and has its turn now
   * @return false when the connection must {@link #await wait}
   */
  boolean tryTake(int lengthBytes, long ownBytes, boolean first) {
    long freeBytes = maxBytes - postedBytes;
    boolean mayHave = ownBytes == 0 || ownBytes + lengthBytes <= SHARE * freeBytes;
    if (lengthBytes <= freeBytes && mayHave && (first || waiting.isEmpty())) {
      postedBytes += lengthBytes;
      return true;
    }
    return false;
  }

  /** The connection waits; {@link #serve} gives it its turn. */
  void await(ReadPipeline reads) {
    waiting.add(reads);
    mayServe = true;
  }

  /** READs have completed, make no progress, or their queue pair is destroyed. */
  void giveBack(long lengthBytes) {
    postedBytes -= lengthBytes;
    mayServe = true;
  }

  /** Gives turns to the connections that wait, as far as there is room. */
  int serve() {
    int served = 0;
    while (mayServe && !waiting.isEmpty()) {
      ReadPipeline next = takePoorest();
      long earlierBytes = postedBytes;
      boolean waits = !next.postReads(true);
      if (waits && postedBytes == earlierBytes) {
        // There is no room for its next READ.
        waiting.addFirst(next);
        mayServe = false;
        return served;
      }
      if (waits) {
        waiting.add(next);
      }
      served++;
    }
    return served;
  }

  /** The first of those that have least; most that wait have nothing. */
  private ReadPipeline takePoorest() {
    ReadPipeline poorest = waiting.peek();
    for (ReadPipeline one : waiting) {
      if (one.inFlightBytes() < poorest.inFlightBytes()) {
        poorest = one;
      }
      if (poorest.inFlightBytes() == 0) {
        break;
      }
    }
    waiting.remove(poorest);
    return poorest;
  }

  /** A connection ends. */
  void remove(ReadPipeline reads) {
    mayServe |= waiting.remove(reads);
  }

  /** Bytes of READs that are posted and count. */
  long postedBytes() {
    return postedBytes;
  }
}
