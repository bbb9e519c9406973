// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Finds what takes too long while a connection fetches: a peer that is silent, a request without an
 * answer, a READ that does not complete, a block that needs many answers. Owned by the agent.
 *
 * <p>All answers together may take the request time-out for a block, and {@link #NS_PER_BYTE} for
 * each byte that was read of it. Only the time of the peer counts, and no wait for memory, a disk
 * of this host or READs of other connections. A block that is located once costs nothing here.
 *
 * <p>A block that takes longer uses TCP, and the connection ends when its data came too slowly.
 */
final class FetchDeadlines {
  /** 1 MB/s. A slower transfer is no reason to use RDMA. */
  private static final long NS_PER_BYTE = 1_000;

  /** An answer that comes sooner does not count for blocks that had to wait for it. */
  private static final long QUICK_ANSWER_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final TransportContext context;
  private final SendQueue sends;
  private final OpenRequests requests;
  private final OpenBatches batches;
  private final ReadQueue reads;
  private final PeerWatch watch;
  private final long timeoutNs;

  /** The cause when data of a block has come too slowly, else null. */
  private String tooSlow;

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
    this.timeoutNs = context.settings().requestTimeout().toNanos();
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
    if (late != null) {
      return readTimeout(late);
    }
    return tooSlow == null ? null : timeout(tooSlow);
  }

  private long locatedNs(ReadBatch batch) {
    return batch.deadlineNs() - timeoutNs;
  }

  /**
   * An answer was received. Of the blocks that it leaves out, or that had to wait for it, those use
   * TCP for which the peer has taken too long. The peer is not at fault: a slow disk causes the
   * same.
   */
  void onAnswer(ReadBatch batch, WantedBlocks wanted) {
    long locatedNs = locatedNs(batch);
    if (locatedNs - batch.askedNs() >= QUICK_ANSWER_NS) {
      wanted.removeIf(
          block -> {
            block.addPeerTime(batch.askedNs(), locatedNs);
            return failIfOverdue(block);
          });
    }
  }

  /**
   * The READs of a batch have completed, and this block needs another LOCATE.
   *
   * @return whether it uses TCP, because its data comes too slowly; the connection ends then
   */
  boolean failIfOverdue(BlockProgress block, ReadBatch batch) {
    long locatedNs = locatedNs(batch);
    block.addPeerTime(batch.askedNs(), locatedNs);
    if (!reads.hasWaitedSince(locatedNs)) {
      block.addPeerTime(locatedNs, context.nanoClock().getAsLong());
    }
    if (isOverdue(block, block.peerNs())) {
      tooSlow = "data comes too slowly: " + block.range();
    }
    return failIfOverdue(block);
  }

  private boolean isOverdue(BlockProgress block, long takenNs) {
    return takenNs - timeoutNs > NS_PER_BYTE * block.bytesRead();
  }

  private boolean failIfOverdue(BlockProgress block) {
    if (!isOverdue(block, block.peerNs())) {
      return false;
    }
    block.fail(FallbackReason.TIMEOUT, "too many slow answers: bytesRead=" + block.bytesRead());
    return true;
  }

  private BrokenConnection readTimeout(ReadBatch batch) {
    if (reads.hasWaitedSince(locatedNs(batch))) {
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
