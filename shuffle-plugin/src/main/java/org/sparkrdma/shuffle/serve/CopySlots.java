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
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;

/**
 * Registered slots with copies of ranges of files: the alternative to windows. Small copies share a
 * slot, which is used again when nothing holds any of them. Slabs of several slots are registered
 * when slots run out, and closed when they are idle. Confined to the agent, but for the loads.
 */
final class CopySlots {
  private static final Logger LOG = LoggerFactory.getLogger(CopySlots.class);

  /** Approximate number of bytes registered at once, in whole slots. */
  private static final int SLAB_BYTES = 4 << 20;

  private static final long REFUSED_NS = Duration.ofSeconds(1).toNanos();

  private final int slotBytes;
  private final int slotsPerSlab;
  private final int maxSlabs;
  private final Device device;
  private final ProtectionDomain domain;
  private final PinnedBudget budget;
  private final ServingBudget memory;
  private final FileWindows windows;
  private final DiskWork work;
  private final List<Slab> slabs = new ArrayList<>();
  private final ArrayDeque<Slot> free = new ArrayDeque<>();
  private final CachedRange.IdleRanges idle = new CachedRange.IdleRanges();

  /** The slot in which the next copy is placed; null for none. */
  private Slot current;

  private boolean refused;
  private long refusedNs;

  /**
   * @param slots at least 1
   * @param windows are evicted when slots need memory
   */
  CopySlots(
      int slotBytes,
      int slots,
      Device device,
      ProtectionDomain domain,
      PinnedBudget budget,
      ServingBudget memory,
      FileWindows windows,
      DiskWork work) {
    this.slotBytes = slotBytes;
    // At most an eighth of the budget, so that windows fit beside a slab.
    long wanted = Math.min(SLAB_BYTES, budget.limitBytes() / 8);
    this.slotsPerSlab = (int) Math.min(slots, Math.max(1, wanted / slotBytes));
    this.maxSlabs = Math.max(1, slots / slotsPerSlab);
    this.device = device;
    this.domain = domain;
    this.budget = budget;
    this.memory = memory;
    this.windows = windows;
    this.work = work;
  }

  /**
   * The copy that begins at an offset, of any length; begins to make it if necessary.
   *
   * @param maxBytes length of a new one, which is shorter than that when a slot is
   * @param mayLoad whether it may begin
   * @return null when no slot is free
   */
  Copy copy(CachedOutput output, long offset, long maxBytes, boolean mayLoad, long nowNs) {
    Copy copy = output.copy(offset);
    if (copy != null || !mayLoad) {
      return copy;
    }
    int lengthBytes = (int) Math.min(maxBytes, slotBytes);
    Slot slot = slotFor(lengthBytes, nowNs);
    if (slot == null) {
      return null;
    }
    copy = new Copy(output, offset, lengthBytes, slot);
    output.copies().put(copy.key, copy);
    work.load(output.disk(), copy);
    return copy;
  }

  private Slot slotFor(int lengthBytes, long nowNs) {
    if (current == null || slotBytes - current.used < lengthBytes) {
      Slot next = takeSlot(nowNs);
      if (next == null) {
        return null;
      }
      current = next;
    }
    return current;
  }

  /** A free slot; else one of a new slab, else that of the least recently used copies. */
  private Slot takeSlot(long nowNs) {
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
    long slabBytes = (long) slotsPerSlab * slotBytes;
    if (slabs.size() == maxSlabs
        || !memory.mayUse(slabBytes)
        || (refused && nowNs - refusedNs < REFUSED_NS)) {
      return false;
    }
    ServingBudget.Reservation reservation = memory.reserve(slabBytes, windows);
    if (reservation == null) {
      return false;
    }
    Slab slab = new Slab(slabBytes, reservation, nowNs);
    memory.addBusy(slabBytes);
    slabs.add(slab);
    for (int i = 0; i < slotsPerSlab; i++) {
      free.add(new Slot(slab, i * slotBytes));
    }
    return true;
  }

  /** Bytes of slabs that {@link #closeIdle} can close. */
  long idleBytes() {
    long bytes = 0;
    for (Slab slab : slabs) {
      bytes += slab.heldCopies == 0 ? slab.lengthBytes : 0;
    }
    return bytes;
  }

  /** Closes all slabs of which nothing holds a copy. */
  void closeIdle() {
    for (Slab slab : slabs.toArray(Slab[]::new)) {
      if (slab.heldCopies == 0) {
        CachedRange range = idle.oldest();
        while (range != null) {
          CachedRange newer = range.newer();
          if (((Copy) range).slot.slab == slab) {
            range.evict();
          }
          range = newer;
        }
        close(slab);
      }
    }
  }

  private void close(Slab slab) {
    slabs.remove(slab);
    free.removeIf(slot -> slot.slab == slab);
    if (current != null && current.slab == slab) {
      current = null;
    }
    memory.removeBusy(slab.lengthBytes);
    if (slab.region == null) {
      memory.cancel(slab.reservation);
    } else {
      work.close(slab);
    }
  }

  /**
   * Evicts copies that are idle since this time or longer, and closes slabs that have none, however
   * their copies have ended, and were last used before it.
   */
  void returnIdleSince(long thenNs) {
    while (idle.oldest() != null && idle.oldest().idleSinceNs() - thenNs <= 0) {
      idle.oldest().evict();
    }
    for (Slab slab : slabs.toArray(Slab[]::new)) {
      if (slab.copies == 0 && slab.usedNs - thenNs <= 0) {
        close(slab);
      }
    }
  }

  /** The least recently used copy; null when none is idle. */
  CachedRange oldestIdle() {
    return idle.oldest();
  }

  /** Slots that are registered together. */
  private final class Slab implements DiskWork.Memory {
    private final long lengthBytes;
    private final ServingBudget.Reservation reservation;
    private PinnedBudget.Grant grant;
    private HostMemory memory;
    private MemoryRegion region;
    private long address;
    private long remoteKey;
    private boolean failed;

    /** Number of its copies, and of those that load or are held. */
    private int copies;

    private int heldCopies;

    /** Time at which a copy of it became idle last, or at which it was created. */
    private long usedNs;

    Slab(long lengthBytes, ServingBudget.Reservation reservation, long nowNs) {
      this.lengthBytes = lengthBytes;
      this.reservation = reservation;
      this.usedNs = nowNs;
    }

    /** Registers it for its first copy. On a thread of a disk; others wait. */
    synchronized void register() throws IOException, VerbsException {
      if (region != null) {
        return;
      }
      if (failed) {
        throw new IOException("slots could not be registered");
      }
      grant = reservation.take(budget);
      if (grant == null) {
        failed = true;
        throw new IOException("others have taken the memory");
      }
      try {
        memory = device.allocate(lengthBytes);
        region = domain.register(memory, 0, lengthBytes, EnumSet.of(AccessFlag.REMOTE_READ));
        RemoteRegion remote = region.remote();
        address = remote.address();
        remoteKey = remote.remoteKey();
      } finally {
        if (region == null) {
          failed = true;
          if (memory != null) {
            memory.close();
          }
          grant.close();
        }
      }
    }

    @Override
    public int disk() {
      return 0;
    }

    @Override
    public long pinnedBytes() {
      return lengthBytes;
    }

    @Override
    public void close() {
      try {
        region.close();
        memory.close();
      } finally {
        grant.close();
      }
    }

    @Override
    public void onClosed() {}
  }

  /** Memory for copies that are freed together. */
  private static final class Slot {
    private final Slab slab;
    private final int offset;
    private int used;
    private int copies;

    Slot(Slab slab, int offset) {
      this.slab = slab;
      this.offset = offset;
    }
  }

  /** A copy of a range of a file. */
  final class Copy extends CachedRange {
    private final CachedOutput.RangeKey key;
    private final Slot slot;
    private final int slabOffset;

    Copy(CachedOutput output, long offset, int lengthBytes, Slot slot) {
      super(output, offset, lengthBytes);
      this.key = new CachedOutput.RangeKey().set(offset, 0);
      this.slot = slot;
      this.slabOffset = slot.offset + slot.used;
      slot.used += lengthBytes;
      slot.copies++;
      slot.slab.copies++;
      slot.slab.heldCopies++;
    }

    @Override
    void load() throws IOException, VerbsException {
      slot.slab.register();
      ByteBuffer target = slot.slab.memory.slice(slabOffset, lengthBytes());
      output().mapOutput().read(offset(), target);
    }

    @Override
    boolean onLoaded(Exception failure, long nowNs) {
      slot.slab.reservation.onLoaded();
      if (failure != null) {
        LOG.debug("Block could not be copied; the reader uses TCP", failure);
        refuseSlab(failure, nowNs);
      }
      return failure == null;
    }

    /** If the slab could not be registered, slots are not registered again at once. */
    private void refuseSlab(Exception failure, long nowNs) {
      if (slot.slab.failed && slabs.remove(slot.slab)) {
        refused = true;
        refusedNs = nowNs;
        free.removeIf(other -> other.slab == slot.slab);
        current = current != null && current.slab == slot.slab ? null : current;
        memory.removeBusy(slot.slab.lengthBytes);
        if (failure instanceof VerbsException) {
          budget.reportRefusal(slot.slab.lengthBytes);
        }
      }
    }

    @Override
    boolean lacksMemory() {
      return slot.slab.failed;
    }

    @Override
    long address() {
      return slot.slab.address + slabOffset;
    }

    @Override
    long remoteKey() {
      return slot.slab.remoteKey;
    }

    @Override
    boolean isCopy() {
      return true;
    }

    @Override
    void onBusy() {
      idle.remove(this);
      slot.slab.heldCopies++;
    }

    @Override
    void onIdle(long nowNs) {
      super.onIdle(nowNs);
      slot.slab.heldCopies--;
      slot.slab.usedNs = nowNs;
      idle.add(this);
      if (output().isRemoved()) {
        evict();
      }
    }

    @Override
    void onDropped() {
      slot.slab.heldCopies--;
      remove();
    }

    @Override
    void evict() {
      idle.remove(this);
      remove();
    }

    private void remove() {
      output().copies().remove(key);
      slot.copies--;
      slot.slab.copies--;
      if (slot.copies == 0) {
        slot.used = 0;
        if (slot != current && !slot.slab.failed) {
          free.push(slot);
        }
      }
    }
  }
}
