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
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Blocks of all connections that wait for receive memory. Owned by the agent.
 *
 * <p>The readers get memory in turns, the blocks of a reader in their order. A reader that has used
 * its share is passed over. While the first block lacks memory that READs will free, no other block
 * gets any, so that large blocks are not passed over for ever.
 *
 * <p>A block waits for 30 ms. It waits on, at most for the request time-out, while blocks that are
 * being read hold the memory and some of them complete: their memory comes back by itself. Memory
 * that Spark holds may come back much later, for example that of the unread side of a join.
 */
final class MemoryQueue {
  /** Maximum time that a block waits for memory that does not come back by itself. */
  private static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(30);

  /** Interval of checks; free memory is not signalled. */
  private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final ReceiveMemory memory;
  private final Delivery delivery;
  private final ShuffleCounters counters;
  private final long maxWaitForReadsNs;
  private final LongSupplier nanoClock;
  private final Map<Long, Waiting> byReader = new HashMap<>();
  private final ArrayDeque<Waiting> turns = new ArrayDeque<>();

  /** Whether the first block waits for memory that READs will free. */
  private boolean firstLacksMemory;

  private long checkedNs;
  private long reservationsUsed;
  private long progressNs;

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
   * @param late whether it had memory after its wait was over, and the device or windows left it
   *     none
   */
  private record Entry(BlockProgress block, FetchSide side, boolean late) {}

  /**
   * @param maxWaitForReadsNs maximum time that a block waits while READs hold the memory
   * @param nanoClock as {@link System#nanoTime}
   */
  MemoryQueue(
      ReceiveMemory memory,
      Delivery delivery,
      ShuffleCounters counters,
      long maxWaitForReadsNs,
      LongSupplier nanoClock) {
    this.memory = memory;
    this.delivery = delivery;
    this.counters = counters;
    this.maxWaitForReadsNs = maxWaitForReadsNs;
    this.nanoClock = nanoClock;
    this.checkedNs = nanoClock.getAsLong();
    this.progressNs = checkedNs;
  }

  boolean isEmpty() {
    return turns.isEmpty();
  }

  /**
   * Reserves memory for a block that does not wait, unless others come first. No other comes before
   * a block that holds memory already.
   */
  boolean tryReserve(BlockProgress block) {
    boolean first =
        turns.isEmpty()
            || block.hasReservation()
            || (block.bytesRead() > 0 && !block.toDisk())
            || (!firstLacksMemory && !byReader.containsKey(block.reader()));
    return first && block.tryReserve(memory);
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
    waiting.blocks.add(new Entry(block, side, block.waitedNs(nowNs) >= MAX_WAIT_NS));
  }

  /** Gives out free memory, if a check is due. Blocks that have waited too long use TCP. */
  void check(long nowNs) {
    if (turns.isEmpty() || nowNs - checkedNs < CHECK_NS) {
      return;
    }
    checkedNs = nowNs;
    if (memory.reservationsUsed() != reservationsUsed) {
      reservationsUsed = memory.reservationsUsed();
      progressNs = nowNs;
    }
    endWaits(true, nowNs);
    // Before the others end, so that none uses TCP whose memory is free by now.
    giveOut(nowNs);
    endWaits(false, nowNs);
  }

  private void giveOut(long nowNs) {
    firstLacksMemory = false;
    int refused = 0;
    while (refused < turns.size() && !firstLacksMemory) {
      Waiting waiting = turns.poll();
      Entry first = waiting.blocks.peek();
      if (first.block.tryReserve(memory)) {
        counters.waitedForMemory(first.block.waitedNs(nowNs));
        waiting.blocks.poll();
        first.side.onMemory(first.block);
        refused = 0;
        keep(waiting, false);
      } else {
        long needed = first.block.neededBytes(memory);
        firstLacksMemory = !memory.isFree(needed) && memory.isHeldByReads(needed);
        refused++;
        keep(waiting, firstLacksMemory);
      }
    }
  }

  private void keep(Waiting waiting, boolean atFront) {
    if (waiting.blocks.isEmpty()) {
      byReader.remove(waiting.reader);
    } else if (atFront) {
      turns.addFirst(waiting);
    } else {
      turns.add(waiting);
    }
  }

  private void endWaits(boolean lateOnly, long nowNs) {
    boolean progress = nowNs - progressNs < MAX_WAIT_NS;
    List<Entry> over = null;
    for (Iterator<Waiting> all = turns.iterator(); all.hasNext(); ) {
      Waiting waiting = all.next();
      Entry first = waiting.blocks.peek();
      while (first != null && (first.late || !lateOnly) && isOver(first.block, progress, nowNs)) {
        over = over == null ? new ArrayList<>() : over;
        over.add(waiting.blocks.poll());
        first = waiting.blocks.peek();
      }
      if (first == null) {
        all.remove();
        byReader.remove(waiting.reader);
      }
    }
    if (over != null) {
      over.forEach(entry -> fail(entry, nowNs));
    }
  }

  private boolean isOver(BlockProgress block, boolean progress, long nowNs) {
    long waitedNs = block.waitedNs(nowNs);
    return waitedNs >= maxWaitForReadsNs
        || (waitedNs >= MAX_WAIT_NS
            && !(progress && memory.isHeldByReads(block.neededBytes(memory))));
  }

  private void fail(Entry entry, long nowNs) {
    counters.waitedForMemory(entry.block.waitedNs(nowNs));
    entry.side.onNoMemory();
    delivery.fail(entry.block, FallbackReason.POOL_EMPTY, "no receive memory for too long");
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
