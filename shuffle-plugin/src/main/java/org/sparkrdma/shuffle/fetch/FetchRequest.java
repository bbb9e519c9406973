// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import io.netty.util.internal.OutOfDirectMemoryError;
import java.io.IOException;
import java.util.BitSet;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.zip.CRC32C;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.StageReads;

/**
 * One call of Spark's fetcher: blocks of one peer. Each block is settled once: either it is
 * delivered to Spark's listener, or it is handed to the {@link Fallback}, which fetches it by TCP.
 * Safe for any thread; never calls Spark under its lock.
 */
public final class FetchRequest {
  /** Interval of checks whether a task that waits for TCP is killed. */
  private static final long KILL_CHECK_MS = 100;

  /** Pause before Spark's client is asked again after it had no direct memory. */
  private static final long OOM_PAUSE_MS = 100;

  /** Fetches blocks by TCP: {@link FallbackThreads}, or a double in tests. */
  @FunctionalInterface
  public interface Fallback {
    /**
     * Blocks cannot be fetched by RDMA. Returns at once and calls Spark from other threads only.
     *
     * @param blocks indexes in the request
     * @param detail a few words for a log, without secrets
     */
    void fetch(FetchRequest request, BitSet blocks, FallbackReason reason, String detail);
  }

  private final FetchContext context;
  private final BlockManagerAddress peer;
  private final String[] names;
  private final BlockRanges ranges;
  private final BlockFetchingListener listener;
  private final ReaderBlocks reader;

  private volatile Endpoint endpoint;
  private volatile BlockTransport transport;

  /** Guarded by this object, as the next four. */
  private final BitSet settled;

  private int settledBlocks;
  private long readBytes;
  private long copiedBytes;

  /** Failed blocks that the request by TCP takes that is on its way; null without one. */
  private BitSet failed;

  /**
   * @param names of the blocks in Spark; belong to this object from now on
   * @param ranges the same blocks; not changed any more
   * @param reader that reads the blocks
   */
  public FetchRequest(
      FetchContext context,
      BlockManagerAddress peer,
      String[] names,
      BlockRanges ranges,
      BlockFetchingListener listener,
      ReaderBlocks reader) {
    this.context = context;
    this.peer = peer;
    this.names = names;
    this.ranges = ranges;
    this.listener = listener;
    this.reader = reader;
    this.settled = new BitSet(names.length);
  }

  /**
   * Fetches all blocks by RDMA.
   *
   * @param by also informed of the end and of corrupt data, whichever transport is in use then
   */
  public void begin(BlockTransport by, Endpoint from) {
    endpoint = from;
    transport = by;
    by.fetch(this);
  }

  /** The peer's endpoint. */
  public Endpoint endpoint() {
    return endpoint;
  }

  /** The peer in Spark. */
  BlockManagerAddress peer() {
    return peer;
  }

  /** The blocks. */
  public BlockRanges ranges() {
    return ranges;
  }

  /** Stage of the task that reads. */
  int stage() {
    return reader.stage();
  }

  /** Whether the server must compute the checksums of a block: the recorded ones are wrong. */
  public boolean needsFreshSums(int index) {
    return context.unusable().contain(ranges.shuffleId(index), ranges.mapId(index));
  }

  /**
   * Delivers a block that was read as a whole, unless it is settled. Spark's listener is called on
   * the caller's thread, which holds no lock; verification follows when Spark opens the block.
   *
   * @param block belongs to this object from now on
   */
  public void onFetched(int index, FetchedBlock block) {
    long bytes = block.size();
    if (settle(index, bytes, block.copiedBytes())) {
      context.counters().increment(Counter.RDMA_BLOCKS_READ);
      addReadBytes(bytes);
      block.fetchedFor(this, index);
      deliver(index, block);
    }
    block.release();
  }

  private void addReadBytes(long bytes) {
    context.counters().add(Counter.RDMA_BYTES_READ, bytes);
    if (stage() == StageReads.NO_STAGE) {
      context.counters().add(Counter.BROADCAST_BYTES_READ, bytes);
    }
  }

  private void deliver(int index, FetchedBlock block) {
    try {
      listener.onBlockFetchSuccess(names[index], block);
    } catch (RuntimeException e) {
      // A second success could make Spark read the block twice.
      listener.onBlockFetchFailure(names[index], e);
    }
  }

  /** Hands a block to TCP, unless it is settled. */
  public void onFailed(int index, FallbackReason reason, String detail) {
    if (settle(index, 0, 0)) {
      BitSet one = new BitSet(index + 1);
      one.set(index);
      context.fallback().fetch(this, one, reason, detail);
    }
  }

  /** Hands all blocks that are not settled to TCP, in one request. */
  public void failRest(FallbackReason reason, String detail) {
    BitSet rest = settleRest();
    if (!rest.isEmpty()) {
      context.fallback().fetch(this, rest, reason, detail);
    }
  }

  /** Settles the blocks that are not; returns their indexes. */
  private BitSet settleRest() {
    BitSet rest = new BitSet(names.length);
    for (int i = 0; i < names.length; i++) {
      if (settle(i, 0, 0)) {
        rest.set(i);
      }
    }
    return rest;
  }

  /**
   * Fetches all blocks by Spark's client on the caller's thread, a task's, as Spark would: no block
   * has begun by RDMA.
   */
  public void fetchByTcpNow(FallbackReason reason, String detail) {
    BitSet all = settleRest();
    report(all.cardinality(), reason, detail);
    addFailed(all);
    fetchFailedByTcp(!reason.isWithoutRdma());
  }

  /** Counts and logs why blocks use TCP. */
  void report(int blocks, FallbackReason reason, String detail) {
    for (int i = 0; i < blocks; i++) {
      context.counters().fellBack(reason);
    }
    context.log().report(peer, reason, blocks, detail);
  }

  /** The last block adds the bytes of all to the stage, before Spark can end the task. */
  private boolean settle(int index, long read, long copied) {
    boolean last;
    synchronized (this) {
      if (settled.get(index)) {
        return false;
      }
      settled.set(index);
      readBytes += read;
      copiedBytes += copied;
      last = ++settledBlocks == names.length;
      if (last) {
        context.counters().stages().add(stage(), readBytes, copiedBytes, 0);
      }
    }
    BlockTransport by = transport;
    if (last && by != null) {
      by.onSettled(this);
    }
    return true;
  }

  /** Adds failed blocks; true when the caller must queue the request. */
  synchronized boolean addFailed(BitSet blocks) {
    boolean first = failed == null;
    if (first) {
      failed = new BitSet(names.length);
    }
    failed.or(blocks);
    return first;
  }

  private synchronized String[] takeFailed() {
    String[] taken = failed.stream().mapToObj(i -> names[i]).toArray(String[]::new);
    failed = null;
    return taken;
  }

  /**
   * Fetches the failed blocks by Spark's client, which may connect on the caller's thread.
   *
   * @param fallback whether reader and peer use RDMA
   */
  void fetchFailedByTcp(boolean fallback) {
    TcpFetch.fetch(context, peer, stage(), takeFailed(), listener, null, fallback);
  }

  /**
   * Verifies a block with its checksums. When one differs, the block is fetched by TCP, which
   * decides: the recorded checksum may be wrong. Called by the thread that opens the block, which
   * waits for TCP.
   *
   * @return the bytes to use instead; null when those of the block are right or unverified
   */
  ManagedBuffer verify(FetchedBlock block, int index) {
    if (!context.verify()) {
      return null;
    }
    switch (block.verdict()) {
      case MATCH -> context.counters().increment(Counter.BLOCKS_VERIFIED);
      case NO_SUMS -> context.counters().increment(Counter.BLOCKS_UNVERIFIED);
      default -> {
        // When the memory was released meanwhile, other bytes were verified.
        block.checkLive();
        return fetchAgain(block, index);
      }
    }
    return null;
  }

  private ManagedBuffer fetchAgain(FetchedBlock block, int index) {
    // The block counts as one by TCP.
    context.counters().add(Counter.RDMA_BLOCKS_READ, -1);
    addReadBytes(-block.size());
    context.counters().stages().add(stage(), -block.size(), -block.copiedBytes(), 0);
    long crc = block.crc32c();
    ManagedBuffer tcp = fetchOneByTcp(index);
    CRC32C tcpCrc = new CRC32C();
    try {
      // A stream over a Netty buffer would move its reader index.
      tcpCrc.update(tcp.nioByteBuffer().duplicate());
    } catch (IOException e) {
      tcp.release();
      throw tcpFailed(index, e);
    }
    if (tcp.size() == block.size() && tcpCrc.getValue() == crc) {
      context.counters().fellBack(FallbackReason.CHECKSUM_UNUSABLE);
      context.counters().increment(Counter.CHECKSUMS_UNUSABLE);
      context.unusable().add(ranges.shuffleId(index), ranges.mapId(index));
    } else {
      context.counters().fellBack(FallbackReason.CORRUPT);
      context.counters().increment(Counter.BLOCKS_CORRUPT);
      String sums =
          String.format(
              Locale.ROOT,
              "rdmaBytes=%d tcpBytes=%d rdmaCrc32c=%08x tcpCrc32c=%08x",
              block.size(),
              tcp.size(),
              crc,
              tcpCrc.getValue());
      context.log().corrupt(peer, names[index], sums);
      transport.onCorruptData(this);
    }
    return tcp;
  }

  private RuntimeException tcpFailed(int index, Throwable cause) {
    context.counters().fellBack(FallbackReason.CORRUPT);
    return reader.fetchFailed(
        peer,
        ranges.get(index),
        "cannot fetch block=" + names[index] + " by TCP after a wrong checksum",
        cause);
  }

  /** Fetches one block by Spark's client and waits for it; retains the result. */
  private ManagedBuffer fetchOneByTcp(int index) {
    String[] one = {names[index]};
    for (int attempt = 1; true; attempt++) {
      SyncAnswer answer = new SyncAnswer();
      try {
        TcpFetch.fetch(context, peer, stage(), one, answer, null, true);
        return await(answer);
      } catch (ExecutionException e) {
        boolean noMemory = e.getCause() instanceof OutOfDirectMemoryError;
        if (!noMemory || attempt > context.maxOomAttempts()) {
          throw tcpFailed(index, e.getCause());
        }
        pause();
      }
    }
  }

  /** Waits for an answer until the task is killed or its thread interrupted. */
  private ManagedBuffer await(SyncAnswer answer) throws ExecutionException {
    boolean ended = false;
    try {
      while (true) {
        reader.throwIfKilled();
        try {
          ManagedBuffer tcp = answer.received.get(KILL_CHECK_MS, TimeUnit.MILLISECONDS);
          ended = true;
          return tcp;
        } catch (TimeoutException e) {
          // The task may be killed.
        }
      }
    } catch (ExecutionException e) {
      ended = true;
      throw e;
    } catch (InterruptedException e) {
      throw ReaderBlocks.unchecked(e);
    } finally {
      if (!ended) {
        answer.abandon();
      }
    }
  }

  private void pause() {
    reader.throwIfKilled();
    try {
      Thread.sleep(OOM_PAUSE_MS);
    } catch (InterruptedException e) {
      throw ReaderBlocks.unchecked(e);
    }
  }

  /** The answer of Spark's client to a thread that waits for it. */
  private static final class SyncAnswer implements BlockFetchingListener {
    final CompletableFuture<ManagedBuffer> received = new CompletableFuture<>();

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
      // The caller releases its own reference when this returns.
      ManagedBuffer retained = buffer.retain();
      if (!received.complete(retained)) {
        retained.release();
      }
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable failure) {
      received.completeExceptionally(failure);
    }

    /** No thread waits any more. */
    void abandon() {
      if (!received.cancel(false) && !received.isCompletedExceptionally()) {
        received.join().release();
      }
    }
  }
}
