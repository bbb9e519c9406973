// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.VerbsException;

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
 * <p>A region that the device refuses costs system calls, and takers try again and again. So after
 * a refusal the pool counts no more regions as available, and registers none, for {@value
 * #PAUSE_MS} ms; meanwhile it reports the refusal to the budget.
 */
public final class RegisteredPool implements AutoCloseable {
  /** Shorter than the wait of a block for memory, so that a refusal of the moment ends before. */
  static final long PAUSE_MS = 10;

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(PAUSE_MS);

  private final OpenDevice open;
  private final Set<AccessFlag> access;
  private final int chunkBytes;
  private final int chunksPerRegion;
  private int maxRegions;

  private final List<Region> regions = new ArrayList<>();
  private final ArrayDeque<RegisteredChunk> free = new ArrayDeque<>();
  private int chunksOut;

  /** Regions that are being registered. */
  private int growing;

  /** Whether the device has refused the last region, at {@link #refusedNs}. */
  private boolean refused;

  private long refusedNs;
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
    this.open = open;
    this.access = Set.copyOf(access);
    this.chunkBytes = chunkBytes;
    this.chunksPerRegion = chunksPerRegion;
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
    Region added = null;
    try {
      added = grow();
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

  private void add(Region added) {
    regions.add(added);
    for (int i = chunksPerRegion - 1; i >= 0; i--) {
      free.push(new RegisteredChunk(this, added, (long) i * chunkBytes, chunkBytes));
    }
  }

  /** Registers a region; null when there is no memory for it. */
  private Region grow() {
    long lengthBytes = regionBytes();
    if (isPaused()) {
      open.budget().reportRefusal(lengthBytes);
      return null;
    }
    Optional<PinnedBudget.Grant> grant = open.budget().tryGrant(lengthBytes);
    if (grant.isEmpty()) {
      open.budget().reportShortage(lengthBytes);
      return null;
    }
    Region added = register(lengthBytes, grant.get());
    if (added == null) {
      open.budget().reportRefusal(lengthBytes);
    }
    return added;
  }

  private synchronized boolean isPaused() {
    return refused && open.nanoClock().getAsLong() - refusedNs < PAUSE_NS;
  }

  private synchronized void onRegistered(boolean success) {
    refused = !success;
    refusedNs = open.nanoClock().getAsLong();
  }

  /** Returns null, without the grant, when the device refuses. */
  private Region register(long lengthBytes, PinnedBudget.Grant grant) {
    HostMemory memory = null;
    MemoryRegion region = null;
    try {
      memory = open.device().allocate(lengthBytes);
      region = open.domain().register(memory, 0, lengthBytes, access);
    } catch (VerbsException e) {
      onRegistered(false);
      return null;
    } finally {
      if (region == null) {
        if (memory != null) {
          memory.close();
        }
        grant.close();
      }
    }
    onRegistered(true);
    return new Region(memory, region, grant);
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
        isPaused()
            ? 0
            : Math.min(
                Math.max(0, maxRegions - regions.size() - growing),
                open.budget().availableBytes() / regionBytes());
    return (long) free.size() * chunkBytes + regionsMore * regionBytes();
  }

  /**
   * Reports to the budget that this pool needs more memory, if its own limit allows it to grow;
   * after a refusal of the device, that one.
   *
   * @param lengthBytes needed; whole regions are requested
   */
  public void reportShortage(long lengthBytes) {
    long neededBytes = (lengthBytes + regionBytes() - 1) / regionBytes() * regionBytes();
    boolean refusedByDevice;
    synchronized (this) {
      if (closed || regions.size() >= maxRegions) {
        return;
      }
      refusedByDevice = isPaused();
    }
    if (refusedByDevice) {
      open.budget().reportRefusal(neededBytes);
    } else {
      open.budget().reportShortage(neededBytes);
    }
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
    regions.forEach(Region::markIdle);
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
  private synchronized List<Region> takeUnused(int max, boolean marked) {
    List<Region> unused = new ArrayList<>(0);
    Iterator<Region> all = regions.iterator();
    while (unused.size() < max && all.hasNext()) {
      Region region = all.next();
      if (marked ? region.isIdle() : region.chunksOut == 0) {
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
  private static int close(List<Region> unused) {
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
    regions.forEach(Region::close);
    regions.clear();
  }

  /** Chunks that are registered at once, with their memory and grant. Guarded by the pool. */
  static final class Region {
    private final HostMemory memory;
    private final MemoryRegion region;
    private final PinnedBudget.Grant grant;

    /** Number of its chunks that are in use. */
    private int chunksOut;

    /** Whether a chunk of it was taken since the last check. */
    private boolean used = true;

    /** Whether it may be deregistered. */
    private boolean idle;

    Region(HostMemory memory, MemoryRegion region, PinnedBudget.Grant grant) {
      this.memory = memory;
      this.region = region;
      this.grant = grant;
    }

    HostMemory memory() {
      return memory;
    }

    MemoryRegion memoryRegion() {
      return region;
    }

    /** A chunk of it is taken. */
    void onTaken() {
      chunksOut++;
      used = true;
      idle = false;
    }

    /** A chunk of it is returned. */
    void onReturned() {
      chunksOut--;
    }

    /** Marks it as idle if no chunk was taken since the last call and none is in use. */
    void markIdle() {
      idle = !used && chunksOut == 0;
      used = false;
    }

    boolean isIdle() {
      return idle;
    }

    void close() {
      region.close();
      try {
        memory.close();
      } finally {
        // Nothing is registered any more.
        grant.close();
      }
    }
  }
}
