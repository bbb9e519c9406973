// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.fetch.ReadBatch;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Finds what takes too long while a connection fetches: a peer that is silent, a request without an
 * answer, a READ that does not complete. Owned by the agent.
 */
final class FetchDeadlines {
  private final TransportContext context;
  private final SendQueue sends;
  private final OpenRequests requests;
  private final OpenBatches batches;
  private final ReadQueue reads;
  private final PeerWatch watch;

  FetchDeadlines(
      TransportContext context,
      SendQueue sends,
      OpenRequests requests,
      OpenBatches batches,
      ReadQueue reads) {
    this.context = context;
    this.sends = sends;
    this.requests = requests;
    this.batches = batches;
    this.reads = reads;
    this.watch =
        new PeerWatch(context.settings().peerTimeout().toNanos(), context.nanoClock().getAsLong());
  }

  /** Something was received from the peer. */
  void onReceived() {
    watch.onReceived();
  }

  /** Time for which the peer has been silent, for log lines. */
  String silence() {
    return watch.toString();
  }

  /** The cause when something timed out, else null. The caller flushes the send queue. */
  BrokenConnection expired(long nowNs) {
    PeerWatch.Finding finding =
        watch.check(nowNs, !requests.isEmpty() || !batches.isEmpty(), sends.hasOutstanding());
    if (finding == PeerWatch.Finding.DEAD) {
      return timeout("peer is silent: " + watch);
    }
    if (finding == PeerWatch.Finding.PROBE) {
      sends.probe(watch::onReceived);
    }
    OpenRequest unanswered = requests.expired(nowNs);
    if (unanswered != null) {
      return timeout(unanswered.toString());
    }
    ReadBatch late = batches.expired(nowNs);
    return late == null ? null : readTimeout(late);
  }

  private BrokenConnection readTimeout(ReadBatch batch) {
    long locatedNs = batch.deadlineNs() - context.settings().requestTimeout().toNanos();
    if (reads.hasWaitedSince(locatedNs)) {
      // The peer did not cause the delay: its READs waited for those of other connections.
      String detail = "READs of other connections took too long";
      return new BrokenConnection(FallbackReason.POOL_EMPTY, detail, blocksUnderWay());
    }
    return timeout("READ not completed in time");
  }

  /** The peer will be quarantined, so all blocks requested from it must use TCP. */
  private BrokenConnection timeout(String detail) {
    return new BrokenConnection(FallbackReason.TIMEOUT, detail, blocksUnderWay());
  }

  /** A new list of all blocks that are being located or read. */
  List<BlockProgress> blocksUnderWay() {
    List<BlockProgress> blocks = requests.blocks();
    batches.addBlocksTo(blocks);
    return blocks;
  }
}
