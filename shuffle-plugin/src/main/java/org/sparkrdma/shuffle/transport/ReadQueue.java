// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.List;
import org.sparkrdma.shuffle.metrics.Counter;

/** The READs of a connection: those to post, and the number of those in flight. Agent only. */
final class ReadQueue {
  private final TransportContext context;
  private final SendQueue sends;
  private final ArrayDeque<ReadOperation> unposted = new ArrayDeque<>();
  private int inFlight;

  /** Number of READs that complete until the timed one has; 0 while none is timed. */
  private int untilTimed;

  private long timedSinceNs;

  ReadQueue(TransportContext context, SendQueue sends) {
    this.context = context;
    this.sends = sends;
  }

  void add(List<ReadOperation> reads) {
    unposted.addAll(reads);
  }

  /** Posts as many as may be in flight; the caller flushes the send queue. */
  void post() {
    while (!unposted.isEmpty() && inFlight < context.settings().readsInFlight()) {
      ReadOperation read = unposted.poll();
      ReadOperation next = unposted.peek();
      sends.read(read, next == null || next.batch() != read.batch());
      inFlight++;
      if (untilTimed == 0) {
        untilTimed = inFlight;
        timedSinceNs = context.nanoClock().getAsLong();
      }
      context.counters().increment(Counter.RDMA_READS_POSTED);
    }
  }

  void onReadDone() {
    inFlight--;
    // READs complete in the order in which they were posted. One at a time is timed.
    if (untilTimed > 0 && --untilTimed == 0) {
      context.counters().readLatency().record(context.nanoClock().getAsLong() - timedSinceNs);
    }
  }

  /** Forgets what is not posted; the sinks belong to the batches. */
  void clear() {
    unposted.clear();
  }
}
