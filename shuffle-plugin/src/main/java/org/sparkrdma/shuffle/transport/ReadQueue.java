// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.List;
import org.sparkrdma.shuffle.metrics.Counter;

/** The READs of a connection: those to post, and the number of those in flight. Agent only. */
final class ReadQueue {
  private final TransportContext context;
  private final ReadLimit limit;
  private final SendQueue sends;
  private final Runnable requestTurn;
  private final ArrayDeque<ReadOperation> unposted = new ArrayDeque<>();
  private int inFlight;
  private long postedBytes;

  /** Whether it is in the queue of {@link ReadLimit}. */
  private boolean waiting;

  /** Whether a READ has ever waited for those of other connections, and when the last one did. */
  private boolean hasWaited;

  private long waitedNs;

  /** Number of READs that complete until the timed one has; 0 while none is timed. */
  private int untilTimed;

  private long timedSinceNs;

  /**
   * @param requestTurn called when a READ that waited for other connections may be posted
   */
  ReadQueue(TransportContext context, SendQueue sends, Runnable requestTurn) {
    this.context = context;
    this.limit = context.reads();
    this.sends = sends;
    this.requestTurn = requestTurn;
  }

  void add(List<ReadOperation> reads) {
    unposted.addAll(reads);
  }

  /** Posts as many as may be in flight; the caller flushes the send queue. */
  void post(long nowNs) {
    int posted = 0;
    while (mayPost()) {
      ReadOperation read = unposted.poll();
      inFlight++;
      posted++;
      postedBytes += read.lengthBytes();
      limit.onPosted(this, read.lengthBytes());
      ReadOperation next = unposted.peek();
      // The last one before a pause must be signalled: its completion ends the pause.
      boolean last = next == null || next.batch() != read.batch() || !mayPost();
      sends.read(read, last);
      if (untilTimed == 0) {
        untilTimed = inFlight;
        timedSinceNs = context.nanoClock().getAsLong();
      }
    }
    if (posted > 0) {
      context.counters().add(Counter.RDMA_READS_POSTED, posted);
    }
    if (!unposted.isEmpty() && hasRoom()) {
      if (limit.isTakenByOthers(this)) {
        hasWaited = true;
        waitedNs = nowNs;
      }
      limit.await(this);
    }
  }

  private boolean mayPost() {
    return !unposted.isEmpty() && hasRoom() && limit.mayPost(this);
  }

  private boolean hasRoom() {
    return inFlight < context.settings().readsInFlight();
  }

  void onReadDone(int lengthBytes) {
    inFlight--;
    postedBytes -= lengthBytes;
    limit.onDone(lengthBytes);
    // READs complete in the order in which they were posted. One at a time is timed.
    if (untilTimed > 0 && --untilTimed == 0) {
      context.counters().readLatency().record(context.nanoClock().getAsLong() - timedSinceNs);
    }
  }

  /** Bytes of its READs that are posted. */
  long postedBytes() {
    return postedBytes;
  }

  /** Bytes of the READ to post next; there must be one. */
  int nextBytes() {
    return unposted.peek().lengthBytes();
  }

  boolean isWaiting() {
    return waiting;
  }

  /** Called by {@link ReadLimit}: whether this connection waits in its queue. */
  void setWaiting(boolean inQueue) {
    waiting = inQueue;
  }

  /** There is room for its next READ. */
  void requestTurn() {
    requestTurn.run();
  }

  /** Whether a READ has waited for those of other connections since then. */
  boolean hasWaitedSince(long thenNs) {
    return hasWaited && waitedNs - thenNs >= 0;
  }

  /** Posts no more READs; those posted may still write. */
  void stop() {
    limit.remove(this);
    unposted.clear();
  }

  /** Forgets all, after the queue pair is destroyed; the sinks belong to the batches. */
  void clear() {
    stop();
    limit.onDone(postedBytes);
    postedBytes = 0;
  }
}
