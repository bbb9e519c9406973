// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;

/**
 * Gives out chunks of equal length from a few large regions, so that taking a chunk registers
 * nothing.
 *
 * <p>Regions are registered when chunks run out, within the pool's own limit and the {@link
 * PinnedBudget}; {@link #trimUnused()} and {@link #trimIdle} deregister regions without a chunk in
 * use. Safe for any thread: regions are registered and deregistered on the caller's thread, while
 * others go on. Its creator closes it before the protection domain, and after every call of {@link
 * #tryTake} and {@link #trimIdle} has returned.
 *
 * <p>After a refusal of the device the pool counts no more regions as available for a while (see
 * {@link RegionSource}).
 */
public final class RegisteredPool implements AutoCloseable {
  private final RegionSource source;
  private final int chunkBytes;
  private final int chunksPerRegion;
  private int maxRegions;

  private final List<PoolRegion> regions = new ArrayList<>();
  private final ArrayDeque<RegisteredChunk> free = new ArrayDeque<>();
  private int chunksOut;

  /** Regions that are being registered. */
  private int growing;

  private boolean closed;

  /**
   * A pool without memory; it allocates and registers when chunks are taken.
   *
   * @param open device of the memory, whose budget each region is taken from
   * @param access of every chunk
   * @param chunkBytes length of a chunk
   * @param chunksPerRegion chunks that are registered with one call
   * @param limitBytes maximum memory of this pool; rounded down to whole regions, but at least one
   */
  public RegisteredPool(
      OpenDevice open,
      Set<AccessFlag> access,
      int chunkBytes,
      int chunksPerRegion,
      long limitBytes) {
    this.chunkBytes = chunkBytes;
    this.chunksPerRegion = chunksPerRegion;
    this.source = new RegionSource(open, access, regionBytes());
    this.maxRegions = regionsOf(limitBytes);
  }

  private int regionsOf(long limitBytes) {
    return (int) Math.max(1, limitBytes / regionBytes());
  }

  /**
   * Changes the limit; a pool that has more keeps it until it is trimmed.
   *
   * @param limitBytes maximum memory of this pool; rounded down to whole regions, but at least one
   */
  public synchronized void limit(long limitBytes) {
    maxRegions = regionsOf(limitBytes);
  }

  /**
   * Takes a chunk; its bytes are undefined.
   *
   * @return empty when the pool's limit or the budget is reached, or the device refuses more memory
   */
  public Optional<RegisteredChunk> tryTake() {
    synchronized (this) {
      if (closed) {
        return Optional.empty();
      }
      if (!free.isEmpty()) {
        return Optional.of(take());
      }
      if (regions.size() + growing >= maxRegions) {
        return Optional.empty();
      }
      growing++;
    }
    PoolRegion added = null;
    try {
      added = source.tryRegister();
    } finally {
      if (added == null) {
        endGrowing();
      }
    }
    if (added == null) {
      return Optional.empty();
    }
    synchronized (this) {
      endGrowing();
      if (!closed) {
        add(added);
        return Optional.of(take());
      }
    }
    added.close();
    return Optional.empty();
  }

  private synchronized void endGrowing() {
    growing--;
  }

  private RegisteredChunk take() {
    RegisteredChunk chunk = free.pop();
    chunk.lend();
    chunk.poolRegion().onTaken();
    chunksOut++;
    return chunk;
  }

  private void add(PoolRegion added) {
    regions.add(added);
    for (int i = chunksPerRegion - 1; i >= 0; i--) {
      free.push(new RegisteredChunk(this, added, (long) i * chunkBytes, chunkBytes));
    }
  }

  synchronized void release(RegisteredChunk chunk) {
    chunksOut--;
    chunk.poolRegion().onReturned();
    free.push(chunk);
    if (closed && chunksOut == 0) {
      closeRegions();
    }
  }

  /** {@return chunks that are in use} */
  public synchronized int chunksOut() {
    return chunksOut;
  }

  /** {@return bytes registered now} */
  public synchronized long registeredBytes() {
    return (long) regions.size() * chunksPerRegion * chunkBytes;
  }

  /** {@return the maximum memory of this pool, whole regions} */
  public synchronized long limitBytes() {
    return maxRegions * regionBytes();
  }

  /**
   * {@return bytes of chunks that could be taken now; other users of the budget may take some of
   * them, and the device may refuse them}
   */
  public synchronized long availableBytes() {
    if (closed) {
      return 0;
    }
    long regionsMore =
        Math.min(Math.max(0, maxRegions - regions.size() - growing), source.available());
    return (long) free.size() * chunkBytes + regionsMore * regionBytes();
  }

  /**
   * Reports to the budget that this pool needs more memory, if its own limit allows it to grow;
   * after a refusal of the device, that one.
   *
   * @param lengthBytes needed; whole regions are requested
   */
  public void reportShortage(long lengthBytes) {
    synchronized (this) {
      if (closed || regions.size() >= maxRegions) {
        return;
      }
    }
    source.reportShortage(lengthBytes);
  }

  private long regionBytes() {
    return (long) chunkBytes * chunksPerRegion;
  }

  /**
   * Deregisters regions without a chunk in use since the last call of this method; called at
   * intervals, it deregisters what was idle for one interval.
   */
  public void trimUnused() {
    markIdle();
    trimIdle(Integer.MAX_VALUE);
  }

  /**
   * Marks regions as idle of which no chunk was taken since the last call and none is in use, for
   * {@link #trimIdle}; taking a chunk removes the mark of its region.
   */
  public synchronized void markIdle() {
    regions.forEach(PoolRegion::markIdle);
  }

  /**
   * Deregisters regions that are marked as idle, up to a number; returns how many it was.
   *
   * @param max maximum number of regions
   * @return number of regions that were deregistered
   */
  public int trimIdle(int max) {
    return close(takeUnused(max, true));
  }

  /**
   * Deregisters regions without a chunk in use, marked or not, up to a number; returns how many it
   * was.
   *
   * @param max maximum number of regions
   * @return number of regions that were deregistered
   */
  public int trimFree(int max) {
    return close(takeUnused(max, false));
  }

  /** Takes regions without a chunk in use out of the pool. */
  private synchronized List<PoolRegion> takeUnused(int max, boolean marked) {
    List<PoolRegion> unused = new ArrayList<>(0);
    Iterator<PoolRegion> all = regions.iterator();
    while (unused.size() < max && all.hasNext()) {
      PoolRegion region = all.next();
      if (marked ? region.isIdle() : region.isUnused()) {
        all.remove();
        unused.add(region);
      }
    }
    if (!unused.isEmpty()) {
      free.removeIf(chunk -> unused.contains(chunk.poolRegion()));
    }
    return unused;
  }

  /** Closes all of them, also when the device fails; none is in the pool any more. */
  private static int close(List<PoolRegion> unused) {
    int closed = 0;
    try {
      while (closed < unused.size()) {
        unused.get(closed++).close();
      }
    } finally {
      if (closed < unused.size()) {
        close(unused.subList(closed, unused.size()));
      }
    }
    return closed;
  }

  /**
   * Gives out no more chunks. The memory is released when the last chunk was returned, now or
   * later: never under a reader.
   */
  @Override
  public synchronized void close() {
    closed = true;
    if (chunksOut == 0) {
      closeRegions();
    }
  }

  private void closeRegions() {
    free.clear();
    regions.forEach(PoolRegion::close);
    regions.clear();
  }
}
