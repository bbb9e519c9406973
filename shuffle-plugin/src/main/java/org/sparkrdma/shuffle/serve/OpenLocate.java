// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * A LOCATE that the {@link BlockServer} is answering: its loads, what they have found, and the
 * lease of its answer. While it waits it holds no buffer for its answer.
 *
 * <pre>
 *  ARRIVED ──► LOADING ──► RESUMED ──► ENDED     answered or dropped, whatever its state
 *                 │ ▲           ▲
 *                 ▼ │           │
 *              NO_MEMORY ───────┘                waits until others release memory, or in vain
 * </pre>
 *
 * <p>The server calls exactly one of {@link #answered} and {@link #malformed}, and nothing after
 * {@link BlockServer#onConnectionGone}. Confined to the agent, but for what its loads read of the
 * request.
 */
public abstract class OpenLocate {
  /** Its progress. */
  enum State {
    ARRIVED,
    /** Loads are not finished. */
    LOADING,
    /** Nothing has loaded for lack of memory. */
    NO_MEMORY,
    /** To be answered with what there is. */
    RESUMED,
    ENDED
  }

  private static final long NS_PER_MS = 1_000_000;

  /** What is known of a block that could not be answered at once. */
  static final class Block {
    /** Null until it is known. */
    MapOutput map;

    /** Why it must be fetched by TCP; null when it need not. */
    Located.Kind refusal;

    /** Its copies, in the order of their offsets. */
    BlockLoad.Copy first;

    /** Whether it waits until a load has read the index of its map output for another block. */
    boolean waitsForIndex;

    void add(BlockLoad.Copy copies) {
      BlockLoad.Copy copy = copies;
      while (copy != null) {
        BlockLoad.Copy next = copy.next;
        insert(copy);
        copy = next;
      }
    }

    private void insert(BlockLoad.Copy copy) {
      if (first == null || copy.at < first.at) {
        copy.next = first;
        first = copy;
        return;
      }
      BlockLoad.Copy before = first;
      while (before.next != null && before.next.at < copy.at) {
        before = before.next;
      }
      copy.next = before.next;
      before.next = copy;
    }
  }

  private record MapTask(int shuffleId, long mapId) {}

  private final long connection;
  private final long reader;
  private final ByteBuffer message;
  private final long arrivedNs;
  private State state = State.ARRIVED;
  private ByteBuffer answer;
  private Locate request;
  private long deadlineNs;
  private long waitsSinceNs;
  private Leases.Lease lease;
  private CopyMemory.Share share;
  private Block[] blocks;
  private final List<BlockLoad> loads = new ArrayList<>(0);

  /** Number of the blocks that it lacks, by their map outputs. */
  private final Map<MapTask, Integer> blocksByMap = new HashMap<>(0);

  private int loading;
  private long plannedBytes;
  private boolean hasResults;
  private boolean lacksMemory;

  /** The lease of the answer that was written before it waited. */
  private Leases.Lease earlierLease;

  /**
   * @param connection number of its connection, which owns its leases
   * @param reader the identity that the reader has proven
   * @param message that was received; not used again before the answer
   * @param arrivedNs time at which it was received, as that of the clock
   */
  protected OpenLocate(long connection, long reader, ByteBuffer message, long arrivedNs) {
    this.connection = connection;
    this.reader = reader;
    this.message = message;
    this.arrivedNs = arrivedNs;
  }

  /** Sets the buffer for the answer, from index 0 on; before the server gets this. */
  protected final void setAnswer(ByteBuffer buffer) {
    answer = buffer;
  }

  /** It waits: the buffer for the answer is free. */
  protected abstract void suspended();

  /** It can be answered: it must be given to {@link BlockServer#locate} again, with a buffer. */
  protected abstract void resumed();

  /** The answer is written. */
  protected abstract void answered(int lengthBytes);

  /** The request breaks the protocol, for the reason given. */
  protected abstract void malformed(String reason);

  final long connection() {
    return connection;
  }

  final long reader() {
    return reader;
  }

  final long arrivedNs() {
    return arrivedNs;
  }

  /** The message that was received. */
  public final ByteBuffer message() {
    return message;
  }

  /** The buffer for the answer. */
  protected final ByteBuffer answer() {
    return answer;
  }

  /**
   * Decodes the message, which must be done first.
   *
   * @param maxWaitNs whatever time-out the message has
   */
  final Locate decode(long maxWaitNs) {
    request = Locate.decode(message);
    deadlineNs = arrivedNs + Math.min(maxWaitNs, request.timeoutMs() * NS_PER_MS) / 2;
    return request;
  }

  final Locate request() {
    return request;
  }

  /** The time at which it is answered with what there is: half of the reader's time-out. */
  final long deadlineNs() {
    return deadlineNs;
  }

  final boolean is(State one) {
    return state == one;
  }

  /** What was found of a block; null when nothing was loaded for it. */
  final Block found(int block) {
    return blocks == null ? null : blocks[block];
  }

  /** The same; made if necessary. */
  final Block block(int index) {
    if (blocks == null) {
      blocks = new Block[request.blockCount()];
    }
    if (blocks[index] == null) {
      blocks[index] = new Block();
    }
    return blocks[index];
  }

  /** Whether a copy has the first byte that it wants of a block. */
  final boolean hasStart(int block) {
    BlockLoad.Copy first = blocks[block].first;
    return first != null
        && first.at
            == blocks[block].map.offset(request.startReduceId(block)) + request.startOffset(block);
  }

  /** Whether a block is neither refused nor copied, at least in part. */
  final boolean isMissing(int block) {
    return blocks[block].refusal == null && !hasStart(block);
  }

  /**
   * It loads nothing, and is about to. Counts the blocks that it lacks by their map outputs; the
   * first one of each reads its index.
   */
  final void beginLoads() {
    plannedBytes = 0;
    blocksByMap.clear();
    for (int block = 0; block < request.blockCount(); block++) {
      Block found = block(block);
      found.waitsForIndex =
          isMissing(block) && blocksByMap.merge(mapTask(block), 1, Integer::sum) > 1;
    }
  }

  /** Number of the blocks that it lacks of the same map output as one of them, itself included. */
  final int blocksBeside(int block) {
    return blocksByMap.getOrDefault(mapTask(block), 1);
  }

  /** Whether two blocks are of the same map output. */
  final boolean areOfOneMap(int block, int other) {
    return request.mapId(block) == request.mapId(other)
        && request.shuffleId(block) == request.shuffleId(other);
  }

  private MapTask mapTask(int block) {
    return new MapTask(request.shuffleId(block), request.mapId(block));
  }

  /** The share of its reader; null before its first load. */
  final CopyMemory.Share share() {
    return share;
  }

  final void setShare(CopyMemory.Share newShare) {
    share = newShare;
  }

  /** Bytes that it has or loads; a new try to load begins with none. */
  final long plannedBytes() {
    return plannedBytes;
  }

  final void addPlanned(long lengthBytes) {
    plannedBytes += lengthBytes;
  }

  /** Whether the answer has something to say already. */
  final boolean hasResults() {
    return hasResults;
  }

  final void setHasResults() {
    hasResults = true;
  }

  /** A block must be fetched by TCP. */
  final void refuse(int block, Located.Kind why) {
    block(block).refusal = why;
    hasResults = true;
  }

  /** There is no memory for one of its blocks. */
  final void lackMemory() {
    lacksMemory = true;
  }

  /** Whether there was no memory for one of its blocks. */
  final boolean lacksMemory() {
    return lacksMemory;
  }

  /** Number of loads and windows that it waits for. */
  final int loading() {
    return loading;
  }

  /** It waits for a load, or a window. */
  final void onBegun() {
    loading++;
  }

  final void add(BlockLoad load) {
    loads.add(load);
    loading++;
  }

  /** What it waited for has ended. */
  final void onLoaded() {
    loading--;
  }

  /** Waits until its loads end or it is resumed. The buffer for the answer is free from now on. */
  final void suspend() {
    state = State.LOADING;
    suspended();
  }

  /** Waits for memory. */
  final void waitForMemory(long nowNs) {
    if (waitsSinceNs == 0) {
      waitsSinceNs = nowNs;
    }
    state = State.NO_MEMORY;
  }

  /** Time at which it began to wait for memory. */
  final long waitsSinceNs() {
    return waitsSinceNs;
  }

  /** There may be memory: it loads again what has not loaded for lack of it. */
  final void retry() {
    state = State.LOADING;
    lacksMemory = false;
  }

  /** It is to be answered with what there is. */
  final void resume() {
    state = State.RESUMED;
    resumed();
  }

  /** Holds the memory of the answer that is being written. */
  final Leases.Lease lease() {
    return lease;
  }

  /** Whether the answer that was written before it waited has bytes of a window, too. */
  final boolean heldEarlier(FileWindow window) {
    return earlierLease != null && earlierLease.holds(window);
  }

  /** Begins to write the answer, perhaps for the second time. */
  final void beginAnswer() {
    if (lease == null || !lease.isEmpty()) {
      earlierLease = lease;
      lease = new Leases.Lease(connection);
    }
  }

  /**
   * The answer is written: only its lease remains. What an earlier one has held is released after
   * the lease holds it, so that it stays.
   */
  final void end(long nowNs) {
    state = State.ENDED;
    if (earlierLease != null) {
      earlierLease.end(nowNs);
      earlierLease = null;
    }
    for (BlockLoad load : loads) {
      if (load.hasEnded()) {
        load.releaseUnheld();
      } else {
        load.cancel();
      }
    }
    loads.clear();
    blocks = null;
  }

  /** Its connection has ended: it waits for nothing and holds nothing any more. */
  final void drop(long nowNs) {
    beginAnswer();
    end(nowNs);
  }
}
