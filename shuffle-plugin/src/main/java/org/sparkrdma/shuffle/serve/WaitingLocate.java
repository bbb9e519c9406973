// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * A LOCATE that could not be answered at once: its loads, and what they have found. While it waits
 * it holds no buffer for its answer.
 *
 * <pre>
 *  LOADING ──► RESUMED ──► ENDED     answered or dropped, whatever its state
 *   │ ▲           ▲
 *   ▼ │           │
 *  NO_MEMORY ─────┘                  waits until others release memory, or in vain
 * </pre>
 *
 * <p>Confined to the agent, but for the room of its answer.
 */
final class WaitingLocate {
  /** Its progress. */
  enum State {
    /** Loads are not finished. */
    LOADING,
    /** Nothing has loaded for lack of memory. */
    NO_MEMORY,
    /** To be answered with what there is. */
    RESUMED,
    ENDED
  }

  /** What is known of a block. */
  static final class Block {
    /** Null until it is known. */
    MapOutput map;

    /** Why it must be fetched by TCP; null when it need not. */
    Located.Kind refusal;

    /** Its copies by their offsets in the file. */
    final Map<Long, BlockLoad.Copy> copies = new HashMap<>(2);

    /** Whether it waits until a load has read the index of its map output for another block. */
    boolean waitsForIndex;
  }

  private record MapTask(int shuffleId, long mapId) {}

  private final OpenLocate locate;
  private final Locate request;
  private final CopyMemory.Share share;

  /** Of the answer that was written before it waited. */
  private final Leases.Lease earlierLease;

  private State state = State.LOADING;
  private long waitsSinceNs;
  private long retriedNs;

  /** Null where nothing was loaded for a block; null after its end. */
  private Block[] blocks;

  private final List<BlockLoad> loads = new ArrayList<>(0);

  /** Number of the blocks that it lacks, by their map outputs. */
  private final Map<MapTask, Integer> blocksByMap = new HashMap<>(0);

  /** Bytes that its answer has for copies, when nothing is copied; and now. */
  private final int roomBytes;

  private final AtomicInteger roomLeft = new AtomicInteger();
  private int loading;
  private long plannedBytes;
  private boolean hasResults;
  private boolean lacksMemory;

  /**
   * @param share of its reader
   * @param earlierLease holds the memory of what can be answered already
   * @param roomBytes that the answer has left beside that
   */
  WaitingLocate(
      OpenLocate locate, CopyMemory.Share share, Leases.Lease earlierLease, int roomBytes) {
    this.locate = locate;
    this.request = locate.request();
    this.share = share;
    this.earlierLease = earlierLease;
    this.roomBytes = roomBytes;
    this.roomLeft.set(roomBytes);
    this.blocks = new Block[request.blockCount()];
  }

  OpenLocate locate() {
    return locate;
  }

  Locate request() {
    return request;
  }

  CopyMemory.Share share() {
    return share;
  }

  boolean is(State one) {
    return state == one;
  }

  /** What was found of a block; null when nothing was loaded for it. */
  Block found(int block) {
    return blocks[block];
  }

  /** The same; made if necessary. */
  Block block(int index) {
    if (blocks[index] == null) {
      blocks[index] = new Block();
    }
    return blocks[index];
  }

  /** Whether a copy has the first byte that it wants of a block. */
  boolean hasStart(int block) {
    Block found = blocks[block];
    return !found.copies.isEmpty()
        && found.copies.containsKey(
            found.map.offset(request.startReduceId(block)) + request.startOffset(block));
  }

  /** Whether a block is neither refused nor copied, at least in part. */
  boolean isMissing(int block) {
    return blocks[block].refusal == null && !hasStart(block);
  }

  /**
   * It loads nothing, and is about to. Counts the blocks that it lacks by their map outputs; the
   * first one of each reads its index.
   */
  void beginLoads() {
    if (!hasResults) {
      dropCopies();
    }
    plannedBytes = 0;
    blocksByMap.clear();
    for (int block = 0; block < request.blockCount(); block++) {
      Block found = block(block);
      found.waitsForIndex =
          isMissing(block) && blocksByMap.merge(mapTask(block), 1, Integer::sum) > 1;
    }
  }

  /** Number of the blocks that it lacks of the same map output as one of them, itself included. */
  int blocksBeside(int block) {
    return blocksByMap.getOrDefault(mapTask(block), 1);
  }

  /** Whether two blocks are of the same map output. */
  boolean areOfOneMap(int block, int other) {
    return request.mapId(block) == request.mapId(other)
        && request.shuffleId(block) == request.shuffleId(other);
  }

  private MapTask mapTask(int block) {
    return new MapTask(request.shuffleId(block), request.mapId(block));
  }

  /** Bytes that it has or loads; a new try to load begins with none. */
  long plannedBytes() {
    return plannedBytes;
  }

  void addPlanned(long lengthBytes) {
    plannedBytes += lengthBytes;
  }

  /** Whether the answer has something to say already. */
  boolean hasResults() {
    return hasResults;
  }

  void setHasResults() {
    hasResults = true;
  }

  /** A block must be fetched by TCP. */
  void refuse(int block, Located.Kind why) {
    block(block).refusal = why;
    hasResults = true;
  }

  /** There is no memory for one of its blocks. */
  void lackMemory() {
    lacksMemory = true;
  }

  /** Whether there was no memory for one of its blocks. */
  boolean lacksMemory() {
    return lacksMemory;
  }

  /** Number of loads and windows that it waits for. */
  int loading() {
    return loading;
  }

  /** It waits for a load, or a window. */
  void onBegun() {
    loading++;
  }

  void add(BlockLoad load) {
    loads.add(load);
    loading++;
  }

  /** What it waited for has ended. */
  void onLoaded() {
    loading--;
  }

  /** Bytes that its answer has left for more copies; negative when one did not fit. Any thread. */
  int roomLeft() {
    return roomLeft.get();
  }

  /** Whether its answer has room for one more extent with a checksum. Any thread. */
  boolean hasRoom() {
    return roomLeft() >= Located.extentBytes(1);
  }

  /** Takes room of its answer for a copy; when it has none, nothing more is copied. Any thread. */
  boolean tryTakeRoom(int lengthBytes) {
    return roomLeft.addAndGet(-lengthBytes) >= 0;
  }

  /** Waits for memory. Others get what it has copied. */
  void waitForMemory(long nowNs) {
    if (waitsSinceNs == 0) {
      waitsSinceNs = nowNs;
    }
    state = State.NO_MEMORY;
    dropCopies();
  }

  /** Nothing loads, and no block has its first bytes: what is copied is of no use. */
  private void dropCopies() {
    loads.forEach(BlockLoad::releaseUnheld);
    loads.clear();
    for (Block block : blocks) {
      if (block != null) {
        block.copies.clear();
      }
    }
    roomLeft.set(roomBytes);
  }

  /** Time at which it began to wait for memory; 0 before. */
  long waitsSinceNs() {
    return waitsSinceNs;
  }

  /** There may be memory: it loads again what has not loaded for lack of it. */
  void retry(long nowNs) {
    state = State.LOADING;
    retriedNs = nowNs;
    lacksMemory = false;
  }

  /** Whether it loads again, and not for longer than since a time. */
  boolean hasRetriedSince(long timeNs) {
    return is(State.LOADING) && retriedNs - timeNs > 0;
  }

  /** It is to be answered with what there is. */
  void resume() {
    state = State.RESUMED;
    locate.replies().resumed(locate);
  }

  /** Whether what was answered before it waited has bytes of a window, too. */
  boolean heldEarlier(FileWindow window) {
    return earlierLease.holds(window);
  }

  /**
   * It is answered, and only the lease of its answer remains; or its connection has ended. What the
   * earlier lease has held is released after the other holds it, so that it stays.
   */
  void end(long nowNs) {
    state = State.ENDED;
    earlierLease.end(nowNs);
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
}
