// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;

/**
 * Limits the bytes of READs that this executor has posted, over all connections. Many servers that
 * send to one reader at once would overflow the buffers of a switch (incast). Owned by the agent;
 * allocates nothing.
 *
 * <p>A connection that has READs posted may post more while at least as many bytes are free as it
 * has posted then, and never more than half: n connections get about 1/(n + 1) each. A connection
 * that has none posted and finds no room waits in order, and no other one posts before it.
 */
final class ReadLimit {
  private final long maxBytes;
  private final ArrayDeque<ReadQueue> waiting = new ArrayDeque<>();
  private long postedBytes;

  /**
   * @param maxBytes at least twice the length of a READ
   */
  ReadLimit(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Whether a connection may post its next READ now. */
  boolean mayPost(ReadQueue queue) {
    if (queue.postedBytes() == 0) {
      return fits(queue) && (waiting.isEmpty() || waiting.peek() == queue);
    }
    return waiting.isEmpty() && fits(queue);
  }

  private boolean fits(ReadQueue queue) {
    return fits(queue, postedBytes);
  }

  /**
   * @param takenBytes of the limit
   */
  private boolean fits(ReadQueue queue, long takenBytes) {
    long ownBytes = queue.postedBytes() + queue.nextBytes();
    return ownBytes <= maxBytes - takenBytes && ownBytes <= maxBytes / 2;
  }

  /** Whether only READs of other connections prevent the next READ of this one. */
  boolean isTakenByOthers(ReadQueue queue) {
    return !mayPost(queue) && fits(queue, queue.postedBytes());
  }

  /** A connection posts a READ, as {@link #mayPost} allows; its own count includes it. */
  void onPosted(ReadQueue queue, int lengthBytes) {
    postedBytes += lengthBytes;
    if (waiting.peek() == queue) {
      waiting.poll();
      queue.setWaiting(false);
    }
    wakeNext();
  }

  /** READs of a connection have completed, or its queue pair is destroyed. */
  void onDone(long lengthBytes) {
    postedBytes -= lengthBytes;
    wakeNext();
  }

  /**
   * {@link #mayPost} has refused a READ. A connection that has others posted tries again when one
   * of them completes; otherwise it gets a turn when there is room.
   */
  void await(ReadQueue queue) {
    if (queue.postedBytes() == 0 && !queue.isWaiting()) {
      queue.setWaiting(true);
      waiting.add(queue);
    }
  }

  /** A connection ends. */
  void remove(ReadQueue queue) {
    if (queue.isWaiting()) {
      queue.setWaiting(false);
      waiting.remove(queue);
      wakeNext();
    }
  }

  /** Bytes of READs that are posted. */
  long postedBytes() {
    return postedBytes;
  }

  private void wakeNext() {
    ReadQueue next = waiting.peek();
    if (next != null && fits(next)) {
      next.requestTurn();
    }
  }
}
