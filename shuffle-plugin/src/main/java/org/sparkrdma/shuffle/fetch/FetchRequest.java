// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.Arrays;
import java.util.BitSet;
import java.util.stream.IntStream;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * One call of Spark's fetcher: blocks of one peer. Each block is settled once: either it is
 * delivered to Spark's listener ({@link #onFetched}), or it is left to TCP ({@link #leaveToTcp}),
 * which the {@link Fallback} fetches. Safe for any thread; never calls Spark under its lock.
 */
public final class FetchRequest {
  /** Fetches blocks by TCP: {@link FallbackThreads}, or a double in tests. */
  @FunctionalInterface
  public interface Fallback {
    /**
     * Blocks cannot be fetched by RDMA. Returns at once and calls Spark from other threads only.
     *
     * @param blocks indexes in the request
     * @param detail a few words for a log, without secrets
     */
    void fetch(FetchRequest request, int[] blocks, FallbackReason reason, String detail);
  }

  private final FetchContext context;
  private final BlockManagerAddress peer;
  private final String[] names;
  private final BlockRanges ranges;
  private final BlockFetchingListener listener;
  private final FetchingTask task;

  private volatile Endpoint endpoint;
  private volatile int owner = Locate.OWN;
  private volatile BlockTransport transport;

  /** Is given the time that a block takes by TCP; null without. */
  private volatile TcpTime probed;

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
   * @param task that reads the blocks
   */
  public FetchRequest(
      FetchContext context,
      BlockManagerAddress peer,
      String[] names,
      BlockRanges ranges,
      BlockFetchingListener listener,
      FetchingTask task) {
    this.context = context;
    this.peer = peer;
    this.names = names;
    this.ranges = ranges;
    this.listener = new ShortagesLast(listener, names.length);
    this.task = task;
    this.settled = new BitSet(names.length);
  }

  /**
   * Fetches all blocks by RDMA.
   *
   * @param by also informed of the end and of corrupt data, whichever transport is in use then
   * @param from the peer, or another executor that serves its map outputs
   */
  public void fetchByRdma(BlockTransport by, Endpoint from) {
    endpoint = from;
    owner =
        from.executorId().equals(peer.executorId()) ? Locate.OWN : Locate.owner(peer.executorId());
    transport = by;
    by.fetch(this);
  }

  /** Where the blocks are fetched: the endpoint of the peer, or of its stand-in. */
  public Endpoint endpoint() {
    return endpoint;
  }

  /** The executor whose map outputs the endpoint serves, as a {@link Locate} names it. */
  public int owner() {
    return owner;
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
    return task.stage();
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
      task.onDelivered();
      deliver(index, block);
    }
    block.release();
  }

  private void addReadBytes(long bytes) {
    context.counters().add(Counter.RDMA_BYTES_READ, bytes);
    if (owner != Locate.OWN) {
      context.counters().add(Counter.ENDED_BYTES_READ, bytes);
    }
    if (task.readsBroadcast()) {
      context.counters().add(Counter.BROADCAST_BYTES_READ, bytes);
    }
  }

  private void deliver(int index, FetchedBlock block) {
    try {
      listener.onBlockFetchSuccess(names[index], block);
    } catch (Exception | LinkageError e) {
      if (e instanceof LinkageError error && context.missing().take(error)) {
        // Spark keeps a block after its last call of the plug-in, so it has not taken this one.
        countAsTcp(block);
        fallBack(index, FallbackReason.UNAVAILABLE, e.toString());
      } else {
        // A second success could make Spark read the block twice.
        listener.onBlockFetchFailure(names[index], e);
      }
    }
  }

  /** Settles a block, which TCP fetches then, unless it is settled already. */
  public void leaveToTcp(int index, FallbackReason reason, String detail) {
    if (settle(index, 0, 0)) {
      fallBack(index, reason, detail);
    }
  }

  /**
   * Leaves a block to TCP for the time that it takes.
   *
   * @param to is given that time
   */
  public void probeTcp(int index, TcpTime to) {
    probed = to;
    leaveToTcp(index, FallbackReason.SLOW_PEER, "TCP may be faster");
  }

  /** Is given the time that a block takes by TCP; null without. */
  TcpTime probed() {
    return probed;
  }

  private void fallBack(int index, FallbackReason reason, String detail) {
    context.fallback().fetch(this, new int[] {index}, reason, detail);
  }

  /** Settles all blocks that are not, which TCP fetches then in one request. */
  public void leaveRestToTcp(FallbackReason reason, String detail) {
    leaveRestToTcp(0, reason, detail);
  }

  /** The same for the blocks from an index on. */
  public void leaveRestToTcp(int from, FallbackReason reason, String detail) {
    int[] rest = settleRest(from);
    if (rest.length > 0) {
      context.fallback().fetch(this, rest, reason, detail);
    }
  }

  /** Settles the blocks from an index on that are not; returns their indexes. */
  private int[] settleRest(int from) {
    return IntStream.range(from, names.length).filter(i -> settle(i, 0, 0)).toArray();
  }

  /**
   * Fetches all blocks by Spark's client on the caller's thread, a task's, as Spark would: no block
   * has begun by RDMA.
   */
  public void fetchByTcpNow(FallbackReason reason, String detail) {
    int[] all = settleRest(0);
    report(all.length, reason, detail);
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
  synchronized boolean addFailed(int... blocks) {
    boolean first = failed == null;
    if (first) {
      failed = new BitSet(names.length);
    }
    Arrays.stream(blocks).forEach(failed::set);
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
    TcpFetch.fetch(context, peer, stage(), takeFailed(), listener, null, fallback, probed);
  }

  // Verification.

  FetchContext context() {
    return context;
  }

  /** The reader of the blocks. */
  public FetchingTask task() {
    return task;
  }

  /** Name of a block in Spark. */
  String name(int index) {
    return names[index];
  }

  /** A block that was delivered counts as one by TCP, because its checksum differs. */
  void countAsTcp(FetchedBlock block) {
    context.counters().add(Counter.RDMA_BLOCKS_READ, -1);
    addReadBytes(-block.size());
    context.counters().stages().add(stage(), -block.size(), -block.copiedBytes(), 0);
  }

  /** A block differs from that of TCP. */
  void onCorruptData() {
    transport.onCorruptData(this);
  }
}
