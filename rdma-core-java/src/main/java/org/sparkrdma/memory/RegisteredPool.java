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
 * use. Safe for any thread; never blocks on anything but registering a region. Owned by the
 * runtime, closed before the protection domain.
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
  private final int maxRegions;

  private final List<Region> regions = new ArrayList<>();
  private final ArrayDeque<RegisteredChunk> free = new ArrayDeque<>();
  private int chunksOut;

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
    this.maxRegions = (int) Math.max(1, limitBytes / ((long) chunkBytes * chunksPerRegion));
  }

  /**
   * Takes a chunk; its bytes are undefined.
   *
   * @return empty when the pool's limit or the budget is reached, or the device refuses more memory
   */
  public synchronized Optional<RegisteredChunk> tryTake() {
    if (closed) {
      return Optional.empty();
    }
    if (free.isEmpty() && !grow()) {
      return Optional.empty();
    }
    RegisteredChunk chunk = free.pop();
    chunk.lend();
    chunk.poolRegion().onTaken();
    chunksOut++;
    return Optional.of(chunk);
  }

  private boolean grow() {
    if (regions.size() == maxRegions) {
      return false;
    }
    long lengthBytes = regionBytes();
    if (isPaused()) {
      open.budget().reportRefusal(lengthBytes);
      return false;
    }
    Optional<PinnedBudget.Grant> grant = open.budget().tryGrant(lengthBytes);
    if (grant.isEmpty()) {
      open.budget().reportShortage(lengthBytes);
      return false;
    }
    if (!tryAddRegion(lengthBytes, grant.get())) {
      open.budget().reportRefusal(lengthBytes);
      return false;
    }
    return true;
  }

  private boolean isPaused() {
    return refused && open.nanoClock().getAsLong() - refusedNs < PAUSE_NS;
  }

  /** Returns false, without the grant, when the device refuses. */
  private boolean tryAddRegion(long lengthBytes, PinnedBudget.Grant grant) {
    HostMemory memory = null;
    MemoryRegion region = null;
    try {
      memory = open.device().allocate(lengthBytes);
      region = open.domain().register(memory, 0, lengthBytes, access);
    } catch (VerbsException e) {
      refused = true;
      refusedNs = open.nanoClock().getAsLong();
      return false;
    } finally {
      if (region == null) {
        if (memory != null) {
          memory.close();
        }
        grant.close();
      }
    }
    refused = false;
    var added = new Region(memory, region, grant);
    regions.add(added);
    for (int i = chunksPerRegion - 1; i >= 0; i--) {
      free.push(new RegisteredChunk(this, added, (long) i * chunkBytes, chunkBytes));
    }
    return true;
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
  public long limitBytes() {
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
            : Math.min(maxRegions - regions.size(), open.budget().availableBytes() / regionBytes());
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
      if (closed || regions.size() == maxRegions) {
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
  public synchronized void trimUnused() {
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
  public synchronized int trimIdle(int max) {
    int trimmed = 0;
    Iterator<Region> all = regions.iterator();
    try {
      while (trimmed < max && all.hasNext()) {
        Region region = all.next();
        if (region.isIdle()) {
          all.remove();
          trimmed++;
          region.close();
        }
      }
    } finally {
      // Also when the device fails: no chunk of that region may be taken.
      if (trimmed > 0) {
        free.removeIf(chunk -> chunk.poolRegion().isClosed());
      }
    }
    return trimmed;
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

    private boolean closed;

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

    boolean isClosed() {
      return closed;
    }

    void close() {
      closed = true;
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
