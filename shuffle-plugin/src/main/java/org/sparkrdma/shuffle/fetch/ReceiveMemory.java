// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.fetch.MemoryQueue.Line;
import org.sparkrdma.shuffle.fetch.MemoryQueue.Wait;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Decides which blocks get receive memory, within the limit of its pool: the setting {@code
 * pool.max} and the share of pinned memory in {@code MemoryShares}. A block gets memory for all its
 * bytes at once, or waits; small blocks share chunks. Confined to the agent; any thread may release
 * blocks.
 *
 * <p>A block is hungry when its reader has opened all that was delivered, so that a task waits for
 * it. Hungry ones are served first come, first served, except that as many bytes may pass a waiting
 * block as it needs. While their reader gets nothing they wait in vain, for which there is a {@link
 * WaitBudget}, and a short time now and then when that is spent. The others are served when no
 * hungry one waits, and leave the last quarter of the pool to them: a reader that keeps what it has
 * not opened, as a join does with its second input, cannot starve another. All wait for as long as
 * a request may take; then they use TCP.
 */
public final class ReceiveMemory {
  /** Interval of checks; free memory is not signalled. */
  private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** On a spent budget short waits that are in vain cost a hundredth of the time. */
  private static final int SHORT_WAITS = 100;

  /** Part of the pool that is left to hungry readers. */
  private static final int LAST_PART = 4;

  private final RegisteredPool pool;
  private final long limitBytes;
  private final ShuffleCounters counters;
  private final WaitBudget waits;
  private final long patientNs;
  private final MemoryQueue readers = new MemoryQueue();

  /**
   * The first hungry block that lacked memory at the last check, though it may have the last; null
   * without.
   */
  private Wait blocked;

  /** Whether a wait was in vain, and when the last one was. */
  private boolean hadVainWait;

  private long vainWaitNs;

  /** Whether readers are known that may be hungry or not; never where another manager reads. */
  private boolean knowsReaders;

  /** Whether blocks wait, or did at the last check, and whether hungry ones did. */
  private volatile boolean isShort;

  private volatile boolean isShortForHungry;

  private long checkedNs;
  private RegisteredChunk open;
  private int position;

  /** A block that waits for memory. It waits once at a time. */
  public interface Waiter {
    /** Length of the memory for which it waits. */
    long blockBytes();

    /** Its reader. */
    FetchingTask reader();

    /** Whether its connection may have more memory now. */
    boolean mayTake();

    /** It gets memory soon, which counts before others are asked whether they may have some. */
    void onGranted();

    /** It gets memory, which it must release, or null, and waits no longer. */
    void onMemory(FetchedBlock memory);
  }

  /**
   * Takes chunks of the pool, which its creator closes.
   *
   * @param reader budget of all that tasks wait for
   * @param patientNs the longest wait of a block, also of one for which no task waits
   */
  public ReceiveMemory(
      RegisteredPool pool, ShuffleCounters counters, WaitBudget reader, long patientNs) {
    this.pool = pool;
    this.limitBytes = pool.limitBytes();
    this.counters = counters;
    this.waits = WaitBudgets.ofMemory(reader);
    this.patientNs = patientNs;
  }

  /** Whether a block of this length can ever be received. */
  public boolean canFit(long lengthBytes) {
    return lengthBytes <= limitBytes;
  }

  /** The most that blocks of one connection hold which are not delivered, but for a single one. */
  public long shareBytes() {
    return limitBytes / 2;
  }

  /**
   * Memory for a block; null when others wait or not enough is free. The caller then waits with
   * {@link #enqueue}.
   */
  public FetchedBlock tryTake(Waiter waiter) {
    knowsReaders |= waiter.reader().isKnown();
    boolean hungry = waiter.reader().isHungry();
    if (!waiter.mayTake() || (!hungry && !readers.isEmpty())) {
      return null;
    }
    if (blocked == null) {
      return take(waiter, hungry);
    }
    return passes(waiter) ? take(waiter, hungry) : null;
  }

  /** Whether a hungry block may get memory before the one that waits. */
  private boolean passes(Waiter waiter) {
    long bytes = waiter.blockBytes();
    if (bytes > blocked.passBytes || !hasRoom(waiter, /* hungry= */ true)) {
      return false;
    }
    blocked.passBytes -= bytes;
    return true;
  }

  private boolean hasRoom(Waiter waiter, boolean hungry) {
    long reservedBytes = reservedBytes(waiter.reader(), hungry);
    long freeBytes = openRoom() - waiter.blockBytes();
    if (freeBytes < reservedBytes) {
      freeBytes += pool.availableBytes();
    }
    return freeBytes >= 0 && (freeBytes >= reservedBytes || isUnused());
  }

  private long reservedBytes(FetchingTask reader, boolean hungry) {
    boolean last = !knowsReaders || (reader.isKnown() && hungry);
    return last ? 0 : limitBytes / LAST_PART;
  }

  private boolean isUnused() {
    return pool.chunksOut() == (open == null ? 0 : 1);
  }

  private FetchedBlock take(Waiter waiter, boolean hungry) {
    if (hasRoom(waiter, hungry)) {
      return take(waiter.blockBytes());
    }
    // Idle windows are evicted then.
    pool.reportShortage(waiter.blockBytes());
    return null;
  }

  private FetchedBlock take(long lengthBytes) {
    FetchedBlock block = new FetchedBlock();
    long left = lengthBytes;
    while (left > 0) {
      if (openRoom() == 0) {
        closeOpenChunk();
        open = pool.tryTake().orElse(null);
        if (open == null) {
          // The device refuses, or windows have taken the memory.
          block.release();
          return null;
        }
      }
      int bytes = (int) Math.min(openRoom(), left);
      block.add(open, position, bytes);
      position += bytes;
      left -= bytes;
    }
    return block;
  }

  private int openRoom() {
    return open == null ? 0 : open.lengthBytes() - position;
  }

  /** The block waits until it has memory, or its time is over. */
  public void enqueue(Waiter waiter, long nowNs) {
    readers.add(waiter, nowNs);
    isShort = true;
    if (waiter.reader().isHungry() && waiter.mayTake()) {
      isShortForHungry = true;
    }
  }

  /** The block waits no longer. */
  public void cancel(Waiter waiter) {
    readers.remove(waiter);
    blocked = blocked != null && blocked.waiter == waiter ? null : blocked;
  }

  /** Whether blocks of such a reader wait, or did a short time ago. Safe for any thread. */
  public boolean isShort(FetchingTask reader) {
    return isShort && (isShortForHungry || !reader.isHungry());
  }

  /** Whether blocks wait. */
  public boolean hasWaiters() {
    return !readers.isEmpty();
  }

  /** The agent has come late by this time: nobody has waited for memory meanwhile. */
  public void onLate(long lateNs) {
    readers.onLate(lateNs);
  }

  /**
   * Gives out free memory if a check is due, and ends waits that are over. Called in each iteration
   * of the agent.
   */
  public void check(long nowNs) {
    if (nowNs - checkedNs < CHECK_NS) {
      return;
    }
    if (readers.isEmpty()) {
      if (isShort) {
        isShort = false;
        isShortForHungry = false;
      }
      return;
    }
    checkedNs = nowNs;
    blocked = null;
    boolean patientBlocked = false;
    boolean closed = false;
    List<Runnable> ended = new ArrayList<>();
    PriorityQueue<Line> order = readers.beginCheck(nowNs);
    for (Line line = order.poll(); line != null; line = order.poll()) {
      Wait wait = line.next;
      boolean hungry = line.hungry;
      boolean may = wait.waiter.mayTake();
      FetchedBlock memory = may ? tryTake(wait, hungry, patientBlocked) : null;
      if (memory == null && may && !closed) {
        // Blocks hold what they use of it.
        closeOpenChunk();
        closed = true;
      }
      if (memory != null) {
        wait.waiter.onGranted();
        onMemory(hungry, nowNs);
      }
      boolean ends = memory != null || isOver(line, nowNs);
      if (ends) {
        counters.increment(Counter.MEMORY_WAITS);
        ended.add(() -> wait.waiter.onMemory(memory));
      } else if (hungry && may && blocked == null && reservedBytes(line.reader, true) == 0) {
        blocked = wait;
      } else {
        patientBlocked |= !hungry && may;
      }
      if (line.advance(ends)) {
        order.add(line);
      } else {
        readers.removeIfEmpty(line);
      }
    }
    isShortForHungry = blocked != null;
    ended.forEach(Runnable::run);
  }

  private FetchedBlock tryTake(Wait wait, boolean hungry, boolean patientBlocked) {
    if (blocked == null) {
      return hungry || !patientBlocked ? take(wait.waiter, hungry) : null;
    }
    return hungry && passes(wait.waiter) ? take(wait.waiter, hungry) : null;
  }

  private void onMemory(boolean hungry, long nowNs) {
    if (hungry) {
      waits.onResult(nowNs);
    }
  }

  /** Whether the next wait of a reader is over; when one was in vain, all of the reader are. */
  private boolean isOver(Line line, long nowNs) {
    boolean late = nowNs - line.next.sinceNs > patientNs;
    if (!line.hungry || late) {
      return late;
    }
    boolean isShort = nowNs - line.hungryNs < WaitBudget.CHECK_NS;
    boolean mayWaitShortly =
        isShort && (!hadVainWait || nowNs - vainWaitNs >= SHORT_WAITS * WaitBudget.CHECK_NS);
    boolean over = waits.restNs(line.hungryNs, nowNs) <= 0 && !mayWaitShortly;
    if (over) {
      hadVainWait = true;
      vainWaitNs = nowNs;
      waits.inVain(line.hungryNs, nowNs);
      counters.increment(Counter.MEMORY_WAITS_IN_VAIN);
    }
    return over;
  }

  /** Releases the open chunk; blocks hold their own references. */
  public void closeOpenChunk() {
    if (open != null) {
      open.release();
      open = null;
      position = 0;
    }
  }

  /** Number of chunks that blocks hold, an open one included. */
  public int chunksOut() {
    return pool.chunksOut();
  }

  /** Marks regions of the pool that are idle since the last call, for {@link #trimIdle}. */
  public void markIdle() {
    closeOpenChunk();
    pool.markIdle();
  }

  /** Deregisters marked regions, at most this number; returns how many it was. */
  public int trimIdle(int max) {
    return pool.trimIdle(max);
  }
}
