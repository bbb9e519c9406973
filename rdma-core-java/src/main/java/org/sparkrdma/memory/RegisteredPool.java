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
 * <p>Slabs are registered when chunks run out, within the pool's own limit and the {@link
 * PinnedBudget}; {@link #trimUnused()} and {@link #trimIdle} deregister slabs without a chunk in
 * use. Safe for any thread; never blocks on anything but registering a slab. Owned by the runtime,
 * closed before the protection domain.
 *
 * <p>A slab that the device refuses costs system calls, and takers try again and again. So after a
 * refusal the pool counts no more slabs as available, and registers none, for {@value #PAUSE_MS}
 * ms; meanwhile it reports the refusal to the budget.
 */
public final class RegisteredPool implements AutoCloseable {
  /** Shorter than the wait of a block for memory, so that a refusal of the moment ends before. */
  static final long PAUSE_MS = 10;

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(PAUSE_MS);

  private final OpenDevice open;
  private final Set<AccessFlag> access;
  private final int chunkBytes;
  private final int chunksPerSlab;
  private final int maxSlabs;

  private final List<Slab> slabs = new ArrayList<>();
  private final ArrayDeque<RegisteredChunk> free = new ArrayDeque<>();
  private int chunksOut;

  /** Whether the device has refused the last slab, at {@link #refusedNs}. */
  private boolean refused;

  private long refusedNs;
  private boolean closed;

  /**
   * A pool without memory; it allocates and registers when chunks are taken.
   *
   * @param open device of the memory, whose budget each slab is taken from
   * @param access of every chunk
   * @param chunkBytes length of a chunk
   * @param chunksPerSlab chunks that are registered with one call
   * @param limitBytes maximum memory of this pool; rounded down to whole slabs, but at least one
   */
  public RegisteredPool(
      OpenDevice open, Set<AccessFlag> access, int chunkBytes, int chunksPerSlab, long limitBytes) {
    this.open = open;
    this.access = Set.copyOf(access);
    this.chunkBytes = chunkBytes;
    this.chunksPerSlab = chunksPerSlab;
    this.maxSlabs = (int) Math.max(1, limitBytes / ((long) chunkBytes * chunksPerSlab));
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
    chunk.slab().onTaken();
    chunksOut++;
    return Optional.of(chunk);
  }

  private boolean grow() {
    if (slabs.size() == maxSlabs) {
      return false;
    }
    long lengthBytes = slabBytes();
    if (isPaused()) {
      open.budget().reportRefusal(lengthBytes);
      return false;
    }
    Optional<PinnedBudget.Grant> grant = open.budget().tryGrant(lengthBytes);
    if (grant.isEmpty()) {
      open.budget().reportShortage(lengthBytes);
      return false;
    }
    if (!tryAddSlab(lengthBytes, grant.get())) {
      open.budget().reportRefusal(lengthBytes);
      return false;
    }
    return true;
  }

  private boolean isPaused() {
    return refused && open.nanoClock().getAsLong() - refusedNs < PAUSE_NS;
  }

  /** Returns false, without the grant, when the device refuses. */
  private boolean tryAddSlab(long lengthBytes, PinnedBudget.Grant grant) {
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
    var slab = new Slab(memory, region, grant);
    slabs.add(slab);
    for (int i = chunksPerSlab - 1; i >= 0; i--) {
      free.push(new RegisteredChunk(this, slab, (long) i * chunkBytes, chunkBytes));
    }
    return true;
  }

  synchronized void release(RegisteredChunk chunk) {
    chunksOut--;
    chunk.slab().onReturned();
    free.push(chunk);
    if (closed && chunksOut == 0) {
      closeSlabs();
    }
  }

  /** {@return the length of every chunk in bytes} */
  public int chunkBytes() {
    return chunkBytes;
  }

  /** {@return chunks that are in use} */
  public synchronized int chunksOut() {
    return chunksOut;
  }

  /** {@return bytes registered now} */
  public synchronized long registeredBytes() {
    return (long) slabs.size() * chunksPerSlab * chunkBytes;
  }

  /** {@return the maximum memory of this pool, whole slabs} */
  public long limitBytes() {
    return maxSlabs * slabBytes();
  }

  /**
   * {@return bytes of chunks that could be taken now; other users of the budget may take some of
   * them, and the device may refuse them}
   */
  public synchronized long availableBytes() {
    if (closed) {
      return 0;
    }
    long slabsMore =
        isPaused()
            ? 0
            : Math.min(maxSlabs - slabs.size(), open.budget().availableBytes() / slabBytes());
    return (long) free.size() * chunkBytes + slabsMore * slabBytes();
  }

  /**
   * Reports to the budget that this pool needs more memory, if its own limit allows it to grow;
   * after a refusal of the device, that one.
   *
   * @param lengthBytes needed; whole slabs are requested
   */
  public void reportShortage(long lengthBytes) {
    long neededBytes = (lengthBytes + slabBytes() - 1) / slabBytes() * slabBytes();
    boolean refusedByDevice;
    synchronized (this) {
      if (closed || slabs.size() == maxSlabs) {
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

  private long slabBytes() {
    return (long) chunkBytes * chunksPerSlab;
  }

  /**
   * Deregisters slabs without a chunk in use since the last call of this method; called at
   * intervals, it deregisters what was idle for one interval.
   */
  public synchronized void trimUnused() {
    markIdle();
    trimIdle(Integer.MAX_VALUE);
  }

  /**
   * Marks slabs as idle of which no chunk was taken since the last call and none is in use, for
   * {@link #trimIdle}; taking a chunk removes the mark of its slab.
   */
  public synchronized void markIdle() {
    slabs.forEach(Slab::markIdle);
  }

  /**
   * Deregisters slabs that are marked as idle, up to a number; returns how many it was.
   *
   * @param max maximum number of slabs
   * @return number of slabs that were deregistered
   */
  public synchronized int trimIdle(int max) {
    int trimmed = 0;
    Iterator<Slab> all = slabs.iterator();
    try {
      while (trimmed < max && all.hasNext()) {
        Slab slab = all.next();
        if (slab.isIdle()) {
          all.remove();
          trimmed++;
          slab.close();
        }
      }
    } finally {
      // Also when the device fails: no chunk of that slab may be taken.
      if (trimmed > 0) {
        free.removeIf(chunk -> chunk.slab().isClosed());
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
      closeSlabs();
    }
  }

  private void closeSlabs() {
    free.clear();
    slabs.forEach(Slab::close);
    slabs.clear();
  }
}
