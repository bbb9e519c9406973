// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;

/**
 * Registered buffers with copies of ranges of files: the alternative to windows. Small copies share
 * a buffer, which is used again when nothing holds any of them. Regions of several buffers are
 * registered when buffers run out, and closed when they are idle. Confined to the agent, but for
 * the loads.
 */
final class CopyPool {
  private static final Logger LOG = LoggerFactory.getLogger(CopyPool.class);

  /** Approximate number of bytes registered at once, in whole buffers. */
  private static final int REGION_BYTES = 4 << 20;

  /** Pause after the device has refused a region, and after others have taken its memory. */
  private static final long REFUSED_NS = Duration.ofSeconds(1).toNanos();

  private static final long TAKEN_NS = Duration.ofMillis(10).toNanos();

  private final int bufferBytes;
  private final int buffersPerRegion;
  private final int maxRegions;
  private final OpenDevice device;
  private final ServingBudget memory;
  private final FileWindows windows;
  private final DiskWork work;
  private final List<CopyRegion> regions = new ArrayList<>();
  private final ArrayDeque<CopyBuffer> free = new ArrayDeque<>();
  private final CachedRange.IdleRanges idle = new CachedRange.IdleRanges();

  /** The buffer in which the next copy is placed; null for none. */
  private CopyBuffer current;

  private boolean refused;
  private long refusedUntilNs;

  /**
   * @param buffers at least 1
   * @param windows are evicted when buffers need memory
   */
  CopyPool(
      int bufferBytes,
      int buffers,
      OpenDevice device,
      ServingBudget memory,
      FileWindows windows,
      DiskWork work) {
    this.bufferBytes = bufferBytes;
    // At most an eighth of the budget, so that windows fit beside a region.
    long wanted = Math.min(REGION_BYTES, device.budget().limitBytes() / 8);
    this.buffersPerRegion = (int) Math.min(buffers, Math.max(1, wanted / bufferBytes));
    this.maxRegions = Math.max(1, buffers / buffersPerRegion);
    this.device = device;
    this.memory = memory;
    this.windows = windows;
    this.work = work;
  }

  /**
   * The copy that begins at an offset, of any length; begins to make it if necessary.
   *
   * @param maxBytes length of a new one, which is shorter than that when a buffer is
   * @param mayLoad whether it may begin
   * @return null when no buffer is free
   */
  Copy copy(CachedOutput output, long offset, long maxBytes, boolean mayLoad, long nowNs) {
    Copy copy = output.copy(offset);
    if (copy != null || !mayLoad) {
      return copy;
    }
    int lengthBytes = (int) Math.min(maxBytes, bufferBytes);
    CopyBuffer buffer = bufferFor(lengthBytes, nowNs);
    if (buffer == null) {
      return null;
    }
    copy = new Copy(output, offset, lengthBytes, buffer);
    output.copies().put(copy.key, copy);
    work.load(output.disk(), copy);
    return copy;
  }

  private CopyBuffer bufferFor(int lengthBytes, long nowNs) {
    if (current == null || bufferBytes - current.used < lengthBytes) {
      CopyBuffer next = takeBuffer(nowNs);
      if (next == null) {
        return null;
      }
      current = next;
    }
    return current;
  }

  /** A free buffer; else one of a new region, else that of the least recently used copies. */
  private CopyBuffer takeBuffer(long nowNs) {
    if (free.isEmpty() && !tryGrow(nowNs)) {
      while (free.isEmpty() && !isCurrentEmpty() && idle.oldest() != null) {
        idle.oldest().evict();
      }
    }
    return isCurrentEmpty() ? current : free.poll();
  }

  private boolean isCurrentEmpty() {
    return current != null && current.copies == 0;
  }

  private boolean tryGrow(long nowNs) {
    long regionBytes = (long) buffersPerRegion * bufferBytes;
    if (regions.size() == maxRegions
        || !memory.mayUse(regionBytes)
        || (refused && nowNs - refusedUntilNs < 0)) {
      return false;
    }
    ServingBudget.Reservation reservation = memory.reserve(regionBytes, windows);
    if (reservation == null) {
      return false;
    }
    CopyRegion region = new CopyRegion(regionBytes, reservation, nowNs);
    memory.addBusy(regionBytes);
    regions.add(region);
    for (int i = 0; i < buffersPerRegion; i++) {
      free.add(new CopyBuffer(region, i * bufferBytes));
    }
    return true;
  }

  /** Bytes of regions that {@link #closeIdle} can close. */
  long idleBytes() {
    long bytes = 0;
    for (CopyRegion region : regions) {
      bytes += region.heldCopies == 0 ? region.lengthBytes : 0;
    }
    return bytes;
  }

  /** Closes all regions of which nothing holds a copy. */
  void closeIdle() {
    for (CopyRegion region : regions.toArray(CopyRegion[]::new)) {
      if (region.heldCopies == 0) {
        CachedRange range = idle.oldest();
        while (range != null) {
          CachedRange newer = range.newer();
          if (((Copy) range).buffer.region == region) {
            range.evict();
          }
          range = newer;
        }
        close(region);
      }
    }
  }

  private void close(CopyRegion region) {
    regions.remove(region);
    free.removeIf(buffer -> buffer.region == region);
    if (current != null && current.region == region) {
      current = null;
    }
    memory.removeBusy(region.lengthBytes);
    if (region.registered == null) {
      memory.cancel(region.reservation);
    } else {
      work.close(region);
    }
  }

  /**
   * Evicts copies that are idle since this time or longer, and closes regions that have none,
   * however their copies have ended, and were last used before it.
   */
  void returnIdleSince(long thenNs) {
    while (idle.oldest() != null && idle.oldest().idleSinceNs() - thenNs <= 0) {
      idle.oldest().evict();
    }
    for (CopyRegion region : regions.toArray(CopyRegion[]::new)) {
      if (region.copies == 0 && region.usedNs - thenNs <= 0) {
        close(region);
      }
    }
  }

  /** The least recently used copy; null when none is idle. */
  CachedRange oldestIdle() {
    return idle.oldest();
  }

  /** Buffers that are registered together. */
  private final class CopyRegion implements DiskWork.Memory {
    private final long lengthBytes;
    private final ServingBudget.Reservation reservation;
    private PinnedBudget.Grant grant;
    private HostMemory memory;
    private MemoryRegion registered;
    private long address;
    private long remoteKey;
    private boolean failed;

    /** Number of its copies, and of those that load or are held. */
    private int copies;

    private int heldCopies;

    /** Time at which a copy of it became idle last, or at which it was created. */
    private long usedNs;

    CopyRegion(long lengthBytes, ServingBudget.Reservation reservation, long nowNs) {
      this.lengthBytes = lengthBytes;
      this.reservation = reservation;
      this.usedNs = nowNs;
    }

    /** Registers it for its first copy. On a thread of a disk; others wait. */
    synchronized void register() throws IOException, VerbsException {
      if (registered != null) {
        return;
      }
      if (failed) {
        throw new IOException("buffers could not be registered");
      }
      grant = reservation.take(device.budget());
      if (grant == null) {
        failed = true;
        throw new IOException("others have taken the memory");
      }
      try {
        memory = device.device().allocate(lengthBytes);
        registered =
            device.domain().register(memory, 0, lengthBytes, EnumSet.of(AccessFlag.REMOTE_READ));
        RemoteRegion remote = registered.remote();
        address = remote.address();
        remoteKey = remote.remoteKey();
      } finally {
        if (registered == null) {
          failed = true;
          if (memory != null) {
            memory.close();
          }
          grant.close();
        }
      }
    }

    @Override
    public long pinnedBytes() {
      return lengthBytes;
    }

    @Override
    public void close() {
      try {
        registered.close();
        memory.close();
      } finally {
        grant.close();
      }
    }

    @Override
    public void onClosed() {}
  }

  /** Memory for copies that are freed together. */
  private static final class CopyBuffer {
    private final CopyRegion region;
    private final int offset;
    private int used;
    private int copies;

    CopyBuffer(CopyRegion region, int offset) {
      this.region = region;
      this.offset = offset;
    }
  }

  /** A copy of a range of a file. */
  final class Copy extends CachedRange {
    private final CachedOutput.RangeKey key;
    private final CopyBuffer buffer;
    private final int regionOffset;

    Copy(CachedOutput output, long offset, int lengthBytes, CopyBuffer buffer) {
      super(output, offset, lengthBytes);
      this.key = new CachedOutput.RangeKey().set(offset, 0);
      this.buffer = buffer;
      this.regionOffset = buffer.offset + buffer.used;
      buffer.used += lengthBytes;
      buffer.copies++;
      buffer.region.copies++;
      buffer.region.heldCopies++;
    }

    @Override
    void load() throws IOException, VerbsException {
      buffer.region.register();
      ByteBuffer target = buffer.region.memory.slice(regionOffset, lengthBytes());
      output().mapOutput().read(offset(), target);
    }

    @Override
    boolean onLoaded(Exception failure, long nowNs) {
      buffer.region.reservation.onLoaded();
      if (failure != null) {
        LOG.debug("Block could not be copied; the reader uses TCP", failure);
        refuseRegion(failure, nowNs);
      }
      return failure == null;
    }

    /** If the region could not be registered, buffers are not registered again at once. */
    private void refuseRegion(Exception failure, long nowNs) {
      if (buffer.region.failed && regions.remove(buffer.region)) {
        boolean byDevice = failure instanceof VerbsException;
        refused = true;
        refusedUntilNs = nowNs + (byDevice ? REFUSED_NS : TAKEN_NS);
        free.removeIf(other -> other.region == buffer.region);
        current = current != null && current.region == buffer.region ? null : current;
        memory.removeBusy(buffer.region.lengthBytes);
        if (byDevice) {
          device.budget().reportRefusal(buffer.region.lengthBytes);
        }
      }
    }

    @Override
    boolean lacksMemory() {
      return buffer.region.failed;
    }

    @Override
    long address() {
      return buffer.region.address + regionOffset;
    }

    @Override
    long remoteKey() {
      return buffer.region.remoteKey;
    }

    @Override
    boolean isCopy() {
      return true;
    }

    @Override
    void onBusy() {
      idle.remove(this);
      buffer.region.heldCopies++;
    }

    @Override
    void onIdle(long nowNs) {
      super.onIdle(nowNs);
      buffer.region.heldCopies--;
      buffer.region.usedNs = nowNs;
      idle.add(this);
      if (output().isRemoved()) {
        evict();
      }
    }

    @Override
    void onDropped() {
      buffer.region.heldCopies--;
      remove();
    }

    @Override
    void evict() {
      idle.remove(this);
      remove();
    }

    private void remove() {
      output().copies().remove(key);
      buffer.copies--;
      buffer.region.copies--;
      if (buffer.copies == 0) {
        buffer.used = 0;
        if (buffer != current && !buffer.region.failed) {
          free.push(buffer);
        }
      }
    }
  }
}
