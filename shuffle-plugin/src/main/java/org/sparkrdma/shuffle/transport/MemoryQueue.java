// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.fetch.Delivery;
import org.sparkrdma.shuffle.fetch.ReceiveMemory;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Blocks of all connections that wait for receive memory. Owned by the agent.
 *
 * <p>A block waits for at most 30 ms, then it uses TCP. So a receive pool that is smaller than what
 * tasks request costs READs, and no time. In an incast, while READs from many servers fill the
 * limit of their bytes and hold the memory, it waits for at most a second: TCP would be no sooner,
 * and would send to the switch what the limit holds back.
 *
 * <p>The readers get memory in turns, the blocks of a reader in their order. A reader that has used
 * its share is passed over. A block that is larger than the free memory is passed over by those
 * that fit, but by no more bytes than it needs itself if READs will free enough for it: so small
 * blocks do not wait for a large one, and large blocks get memory as well.
 */
final class MemoryQueue {
  /** Maximum time that a block waits. */
  private static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(30);

  private static final long MAX_INCAST_WAIT_NS = TimeUnit.SECONDS.toNanos(1);

  /** Interval of checks; free memory is not signalled. */
  private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** A wait that ends after the agent did not run for longer than this is counted apart. */
  private static final long LATE_NS = TimeUnit.MILLISECONDS.toNanos(15);

  private final ReceiveMemory memory;
  private final ReadLimit reads;
  private final Delivery delivery;
  private final WaitCounts waits;
  private final LongSupplier nanoClock;
  private final Map<Long, Waiting> byReader = new HashMap<>();
  private final ArrayDeque<Waiting> turns = new ArrayDeque<>();

  /** First block whose memory READs will free; its reader has the next turn. Null without one. */
  private BlockProgress passedOver;

  /** Bytes that others may still get before it. */
  private long mayPassBytes;

  private long checkedNs;

  /** Time of the agent's last iteration; it calls {@link #check} in each. */
  private long ranNs;

  /** Used again at each check: blocks whose wait is over. */
  private final List<Entry> over = new ArrayList<>();

  /** Counts waits that have ended. */
  @FunctionalInterface
  interface WaitCounts {
    /**
     * @param late whether the agent did not run for long before: it may have ended too late
     */
    void add(long waitedNs, boolean late);
  }

  /** Blocks of one reader, in their order; there is always one. */
  private static final class Waiting {
    private final long reader;
    private final ArrayDeque<Entry> blocks = new ArrayDeque<>();

    Waiting(long reader) {
      this.reader = reader;
    }
  }

  /**
   * A block that waits.
   *
   * @param addedNs time when this wait began. The block may have waited before, and found no memory
   *     in spite of its reservation.
   */
  private record Entry(BlockProgress block, FetchSide side, long addedNs) {
    /** Whether it had memory after its wait was over, and the device or windows left it none. */
    boolean hadMemory() {
      return block.waitedNs(addedNs) >= MAX_WAIT_NS;
    }
  }

  /**
   * @param waits receives each wait that has ended
   * @param nanoClock as {@link System#nanoTime}
   */
  MemoryQueue(
      ReceiveMemory memory,
      ReadLimit reads,
      Delivery delivery,
      WaitCounts waits,
      LongSupplier nanoClock) {
    this.memory = memory;
    this.reads = reads;
    this.delivery = delivery;
    this.waits = waits;
    this.nanoClock = nanoClock;
    this.checkedNs = nanoClock.getAsLong();
    this.ranNs = checkedNs;
  }

  boolean isEmpty() {
    return turns.isEmpty();
  }

  /**
   * Reserves memory for a block that does not wait, unless others come first. No other comes before
   * a block that holds memory already.
   */
  boolean tryReserve(BlockProgress block) {
    boolean holdsMemory = block.hasReservation() || (block.bytesRead() > 0 && !block.toDisk());
    if (turns.isEmpty() || holdsMemory) {
      return block.tryReserve(memory);
    }
    return !byReader.containsKey(block.reader()) && tryReserveInTurn(block);
  }

  /** Reserves memory for a block whose reader has its turn. */
  private boolean tryReserveInTurn(BlockProgress block) {
    boolean passes = passedOver != null && passedOver != block;
    long needed = block.neededBytes(memory);
    if ((passes && needed > mayPassBytes) || !block.tryReserve(memory)) {
      return false;
    }
    mayPassBytes -= passes ? needed : 0;
    return true;
  }

  /** Adds a block; {@code side} gets it back when it has memory, or is notified of its failure. */
  void add(BlockProgress block, FetchSide side) {
    long nowNs = nanoClock.getAsLong();
    block.startWaiting(nowNs);
    Waiting waiting = byReader.get(block.reader());
    if (waiting == null) {
      waiting = new Waiting(block.reader());
      byReader.put(waiting.reader, waiting);
      turns.add(waiting);
    }
    waiting.blocks.add(new Entry(block, side, nowNs));
  }

  /**
   * Gives out free memory, if a check is due. Blocks that have waited too long use TCP. Called in
   * each iteration of the agent.
   */
  void check(long nowNs) {
    if (!turns.isEmpty() && nowNs - checkedNs >= CHECK_NS) {
      checkedNs = nowNs;
      giveOut(nowNs);
      for (int i = 0; i < over.size(); i++) {
        fail(over.get(i), nowNs);
      }
      over.clear();
    }
    ranNs = nowNs;
  }

  /** Whether the agent has not run for long, while the block waited. */
  private boolean isLate(Entry entry, long nowNs) {
    return nowNs - Math.max(ranNs, entry.addedNs) > LATE_NS;
  }

  private void giveOut(long nowNs) {
    Waiting lacking = null;
    int refused = 0;
    while (refused < turns.size()) {
      Waiting waiting = turns.poll();
      boolean given = tryGive(waiting, nowNs);
      Entry next = waiting.blocks.peek();
      if (next == null) {
        byReader.remove(waiting.reader);
      } else if (!given && lacking == null && isPassedOver(next.block)) {
        lacking = waiting;
      } else {
        turns.add(waiting);
        refused++;
      }
      refused = given ? 0 : refused;
    }
    if (lacking != null) {
      turns.addFirst(lacking);
    }
  }

  /** Gives memory to the next block of a reader; those before it whose wait is over use TCP. */
  private boolean tryGive(Waiting waiting, long nowNs) {
    Entry first = waiting.blocks.peek();
    while (first != null) {
      boolean ended = isOver(first.block, nowNs);
      // Tried after its wait, too, so that no block uses TCP whose memory is free by now.
      boolean given = !(ended && first.hadMemory()) && tryReserveInTurn(first.block);
      if (!given && !ended) {
        return false;
      }
      waiting.blocks.poll();
      onLeft(first.block);
      if (given) {
        waits.add(nowNs - first.addedNs, isLate(first, nowNs));
        first.side.onMemory(first.block);
        return true;
      }
      over.add(first);
      first = waiting.blocks.peek();
    }
    return false;
  }

  private boolean isOver(BlockProgress block, long nowNs) {
    long waitedNs = block.waitedNs(nowNs);
    return waitedNs >= MAX_INCAST_WAIT_NS
        || (waitedNs >= MAX_WAIT_NS
            && !(reads.isIncast(nowNs) && memory.isHeldByReads(block.neededBytes(memory))));
  }

  /** Whether a block, the first that was refused, waits for memory that READs will free. */
  private boolean isPassedOver(BlockProgress block) {
    long needed = block.neededBytes(memory);
    if (memory.isFree(needed) || !memory.isHeldByReads(needed)) {
      onLeft(block);
      return false;
    }
    if (passedOver != block) {
      passedOver = block;
      mayPassBytes = needed;
    }
    return true;
  }

  /** A block has left the queue, or READs will not free its memory. */
  private void onLeft(BlockProgress block) {
    if (passedOver == block) {
      passedOver = null;
    }
  }

  private void fail(Entry entry, long nowNs) {
    // The whole wait: it may have had memory meanwhile that the device did not register.
    waits.add(entry.block.waitedNs(nowNs), isLate(entry, nowNs));
    entry.side.onNoMemory();
    delivery.fail(entry.block, FallbackReason.POOL_EMPTY, "no receive memory for too long");
  }

  /** A new list of all blocks that wait, of all connections. */
  List<BlockProgress> all() {
    List<BlockProgress> all = new ArrayList<>();
    turns.forEach(waiting -> waiting.blocks.forEach(entry -> all.add(entry.block)));
    return all;
  }

  /** Removes the blocks of a connection that ends; returns them. */
  List<BlockProgress> takeAll(FetchSide side) {
    List<BlockProgress> taken = new ArrayList<>();
    for (Iterator<Waiting> all = turns.iterator(); all.hasNext(); ) {
      Waiting waiting = all.next();
      waiting.blocks.removeIf(
          entry -> {
            boolean ofSide = entry.side == side;
            if (ofSide) {
              taken.add(entry.block);
              onLeft(entry.block);
            }
            return ofSide;
          });
      if (waiting.blocks.isEmpty()) {
        all.remove();
        byReader.remove(waiting.reader);
      }
    }
    return taken;
  }
}
