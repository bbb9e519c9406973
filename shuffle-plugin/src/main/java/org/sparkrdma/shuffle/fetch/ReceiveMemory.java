// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Decides which blocks get receive memory, first come, first served, within the limit of its pool:
 * the setting {@code pool.max} and the share of pinned memory in {@code MemoryPlan.receiveBytes}. A
 * block gets memory for all its bytes at once, or waits in one queue for at most a second; then it
 * uses TCP. Small blocks share chunks. Confined to the agent; any thread may release blocks.
 */
public final class ReceiveMemory {
  /** Maximum time that a block waits. */
  public static final long MAX_WAIT_NS = TimeUnit.SECONDS.toNanos(1);

  /**
   * The same while no block holds memory: only windows that are evicted can free some, which takes
   * milliseconds.
   */
  private static final long MAX_UNUSED_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Interval of checks; free memory is not signalled. */
  private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final RegisteredPool pool;
  private final ShuffleCounters counters;
  private final ArrayDeque<Waiter> waiting = new ArrayDeque<>();
  private long checkedNs;
  private RegisteredChunk open;
  private int position;

  /** A block that waits for memory. It waits once at a time. */
  public interface Waiter {
    /** Length of the memory for which it waits. */
    long blockBytes();

    /** Time since which it waits. */
    long sinceNs();

    /** It gets memory, which it must release, or null, and waits no longer. */
    void onMemory(FetchedBlock memory);
  }

  /** Takes chunks of the pool, which its creator closes. */
  public ReceiveMemory(RegisteredPool pool, ShuffleCounters counters) {
    this.pool = pool;
    this.counters = counters;
  }

  /** Whether a block of this length can ever be received. */
  public boolean canFit(long lengthBytes) {
    return lengthBytes <= pool.limitBytes();
  }

  /**
   * Memory for a block; null when others wait or not enough is free. The caller then waits with
   * {@link #enqueue}.
   */
  public FetchedBlock tryTake(long lengthBytes) {
    return waiting.isEmpty() ? take(lengthBytes) : null;
  }

  private FetchedBlock take(long lengthBytes) {
    if (lengthBytes > openRoom() + pool.availableBytes()) {
      // Idle windows are evicted then.
      pool.reportShortage(lengthBytes);
      return null;
    }
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
  public void enqueue(Waiter waiter) {
    waiting.add(waiter);
  }

  /** The block waits no longer. */
  public void cancel(Waiter waiter) {
    waiting.remove(waiter);
  }

  /** Whether blocks wait. */
  public boolean hasWaiters() {
    return !waiting.isEmpty();
  }

  /** The blocks that wait, in order. */
  public Collection<Waiter> waiters() {
    return Collections.unmodifiableCollection(waiting);
  }

  /**
   * Gives out free memory in order, if a check is due, and ends waits that are over. Called in each
   * iteration of the agent.
   */
  public void check(long nowNs) {
    if (waiting.isEmpty() || nowNs - checkedNs < CHECK_NS) {
      return;
    }
    checkedNs = nowNs;
    boolean enough = true;
    while (enough && !waiting.isEmpty()) {
      Waiter first = waiting.peek();
      FetchedBlock memory = take(first.blockBytes());
      if (memory == null) {
        // Blocks hold what they use of it.
        closeOpenChunk();
      }
      enough = memory != null || nowNs - first.sinceNs() >= maxWaitNs();
      if (enough) {
        waiting.poll();
        counters.increment(Counter.MEMORY_WAITS);
        first.onMemory(memory);
      }
    }
  }

  private long maxWaitNs() {
    return pool.chunksOut() == 0 ? MAX_UNUSED_WAIT_NS : MAX_WAIT_NS;
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
