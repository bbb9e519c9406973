// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FailureText;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * One request to a peer: each block is fetched by RDMA or passed to the {@link TcpFallback}, never
 * both. Blocks that fail while earlier ones are queued join their request. Safe for any thread.
 *
 * <p>Nothing is allocated between the moment at which a block is settled and its answer, or the
 * moment at which the next request by TCP is queued: an {@link OutOfMemoryError} there would lose
 * the block, or fail it in Spark, which takes that for a failure of the peer. What else may throw
 * is followed by the answer all the same.
 */
final class PeerFetch implements FetchHandler {
  /** Reasons after which the peer may have withdrawn its endpoint. */
  private static final Set<FallbackReason> SUGGESTS_A_CHANGE =
      EnumSet.of(
          FallbackReason.REFUSED,
          FallbackReason.CONNECT_FAILED,
          FallbackReason.LOST_PEER,
          FallbackReason.TIMEOUT);

  private final PeerAddress peer;
  private final List<String> blockIds;
  private final List<BlockRange> ranges;
  private final BlockFetchingListener listener;
  private final DownloadFileManager files;
  private final TcpFallback tcp;
  private final FallbackLog fallbackLog;
  private final ShuffleCounters counters;
  private final Runnable recheck;
  private final ReadingTask task;

  /** The thread of that task; null without one. */
  private final Thread taskThread;

  private final BitSet settled;
  private int settledBlocks;
  private long readBytes;
  private long copiedBytes;

  /** Settled blocks that the next request by TCP takes. */
  private final BitSet failed;

  private final BlocksToFetch failedBlocks = new FailedBlocks();

  /** That request, made in advance. */
  private TcpRequest tcpRequest;

  /** Whether it is on its way. */
  private boolean tcpRequested;

  /** Receives the blocks of such requests, unless they are without RDMA. */
  private final BlockFetchingListener fallbackBytes;

  /**
   * Created on the thread of the task that reads.
   *
   * @param recheck called when the peer's endpoint may be outdated
   */
  PeerFetch(
      PeerAddress peer,
      List<String> blockIds,
      List<BlockRange> ranges,
      BlockFetchingListener listener,
      DownloadFileManager files,
      TcpFallback tcp,
      FallbackLog fallbackLog,
      ShuffleCounters counters,
      Runnable recheck) {
    this.peer = peer;
    this.blockIds = blockIds;
    this.ranges = ranges;
    this.listener = listener;
    this.files = files;
    this.tcp = tcp;
    this.fallbackLog = fallbackLog;
    this.counters = counters;
    this.recheck = recheck;
    this.task = ReadingTask.current();
    this.taskThread = ReadingTask.threadHere();
    this.settled = new BitSet(blockIds.size());
    this.failed = new BitSet(blockIds.size());
    this.fallbackBytes = new FallbackBytes(listener, counters);
    this.tcpRequest = newTcpRequest();
  }

  /** Requests all blocks from the transport. */
  void begin(BlockTransport transport, Endpoint endpoint) {
    try {
      transport.fetch(endpoint, ranges, files, this);
    } catch (Throwable e) {
      logNotStarted(e);
      failRest(FallbackReason.READ_ERROR, FailureText.of(e));
    }
  }

  private void logNotStarted(Throwable e) {
    try {
      fallbackLog.notStarted(peer, e);
    } catch (Throwable noMemory) {
      // The line is lost, not the blocks.
    }
  }

  @Override
  public long reader() {
    return task.reader();
  }

  @Override
  public void onFetched(int index, ManagedBuffer buffer) {
    onFetched(index, buffer, 0);
  }

  @Override
  public void onFetched(int index, ManagedBuffer buffer, long copied) {
    long blockBytes = buffer.size();
    if (!settle(index, blockBytes, copied)) {
      return;
    }
    counters.increment(Counter.RDMA_BLOCKS_READ);
    counters.add(Counter.RDMA_BYTES_READ, blockBytes);
    SafeListener.succeed(listener, blockIds.get(index), buffer);
  }

  @Override
  public void onFailed(int index, FallbackReason reason, String detail) {
    TcpRequest request;
    synchronized (this) {
      if (!settle(index, 0, 0)) {
        return;
      }
      failed.set(index);
      request = requestTcp();
    }
    try {
      report(reason, 1, detail);
    } finally {
      fetchFailedByTcp(request, reason, null);
    }
  }

  @Override
  public void onSuspect(int index, SuspectBlock suspect) {
    if (!settle(index, 0, 0)) {
      return;
    }
    TcpRequest compared;
    try {
      String[] one = {blockIds.get(index)};
      compared =
          new TcpRequest(
              peer,
              task.stage(),
              () -> one,
              new SuspectListener(
                  peer, suspect, fallbackBytes, tcp.comparisons(), counters, fallbackLog),
              files);
    } catch (Throwable e) {
      fetchSuspectByTcp(index);
      return;
    }
    compared.peerHasAnswered(true);
    tcp.fetch(compared);
  }

  /** Requests a suspect block like a failed one: memory is short, so its bytes are not compared. */
  private void fetchSuspectByTcp(int index) {
    TcpRequest request;
    synchronized (this) {
      failed.set(index);
      request = requestTcp();
    }
    counters.fellBack(FallbackReason.CORRUPT);
    fetchFailedByTcp(request, FallbackReason.CORRUPT, null);
  }

  /** Sends all unanswered blocks to TCP, in one request. */
  void failRest(FallbackReason reason, String detail) {
    int count = 0;
    TcpRequest request;
    synchronized (this) {
      for (int i = 0; i < blockIds.size(); i++) {
        if (settle(i, 0, 0)) {
          failed.set(i);
          count++;
        }
      }
      request = count > 0 ? requestTcp() : null;
    }
    try {
      report(reason, count, detail);
    } finally {
      fetchFailedByTcp(request, reason, taskThread);
    }
  }

  /** The request that the caller must queue; null when one takes the blocks that is queued. */
  private TcpRequest requestTcp() {
    TcpRequest request = tcpRequested ? null : tcpRequest;
    tcpRequested = true;
    return request;
  }

  private void report(FallbackReason reason, int count, String detail) {
    for (int i = 0; i < count; i++) {
      counters.fellBack(reason);
    }
    if (count > 0) {
      fallbackLog.report(peer, reason, count, detail);
      if (SUGGESTS_A_CHANGE.contains(reason)) {
        recheck.run();
      }
    }
  }

  /**
   * @param request null when one is queued
   * @param reason of the first block; those that join it have one of the same kind, because a
   *     request without an endpoint fails as a whole
   * @param asking as in {@link TcpRequest#askedBy}
   */
  private void fetchFailedByTcp(TcpRequest request, FallbackReason reason, Thread asking) {
    if (request != null) {
      request.askedBy(asking);
      request.answerTo(reason.isWithoutRdma() ? listener : fallbackBytes);
      request.peerHasAnswered(reason.followsAnAnswer());
      tcp.fetch(request);
    }
  }

  private TcpRequest newTcpRequest() {
    return new TcpRequest(peer, task.stage(), failedBlocks, fallbackBytes, files);
  }

  /** The last block adds the bytes of all to the stage, before Spark can end the task. */
  private synchronized boolean settle(int index, long read, long copied) {
    if (settled.get(index)) {
      return false;
    }
    settled.set(index);
    readBytes += read;
    copiedBytes += copied;
    if (++settledBlocks == blockIds.size()) {
      counters.stages().add(task.stage(), readBytes, copiedBytes, 0);
    }
    return true;
  }

  /** The blocks that have failed until their request is issued. */
  private final class FailedBlocks implements BlocksToFetch {
    @Override
    public String[] take() {
      return takeFailed();
    }

    @Override
    public void fail(Throwable failure) {
      answerFailed(failure);
    }
  }

  /** Takes the failed blocks. When there is no memory for that, it takes none and throws. */
  private synchronized String[] takeFailed() {
    String[] taken = new String[failed.cardinality()];
    TcpRequest following = newTcpRequest();
    int index = -1;
    for (int i = 0; i < taken.length; i++) {
      index = failed.nextSetBit(index + 1);
      taken[i] = blockIds.get(index);
    }
    failed.clear();
    tcpRequest = following;
    tcpRequested = false;
    return taken;
  }

  private void answerFailed(Throwable e) {
    for (int index = takeOne(); index >= 0; index = takeOne()) {
      SafeListener.fail(listener, blockIds.get(index), e);
    }
  }

  /** Takes one failed block; negative when there is none. */
  private synchronized int takeOne() {
    int index = failed.nextSetBit(0);
    if (index < 0) {
      tcpRequested = false;
    } else {
      failed.clear(index);
    }
    return index;
  }
}
