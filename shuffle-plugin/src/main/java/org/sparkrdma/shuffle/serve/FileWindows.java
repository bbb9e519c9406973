// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.OpenDevice;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;

/**
 * Map-output files, registered in windows for remote reading only. The least recently used window
 * that nothing holds is evicted when its memory is needed.
 *
 * <p>Windows that page on demand are not pinned and not charged to the budget; their number and the
 * idle time-out bound them. They are read from the disk before their registration, so that a slow
 * disk delays the answer and not the READs. After a failure windows of a file are not registered
 * for a second, where the device has no room for 10 ms. Confined to the agent, but for the loads.
 */
final class FileWindows {
  private static final Logger LOG = LoggerFactory.getLogger(FileWindows.class);
  private static final long REFUSED_NS = Duration.ofSeconds(1).toNanos();
  private static final long FULL_NS = Duration.ofMillis(10).toNanos();

  private final int windowBytes;
  private final int shift;
  private final int maxWindows;
  private final Set<AccessFlag> access;
  private final boolean pinned;
  private final List<Path> excluded;
  private final MapOutputs outputs;
  private final OpenDevice device;
  private final ServingBudget memory;
  private final DiskWork work;
  private final ShuffleCounters counters;
  private final CachedRange.IdleRanges idle = new CachedRange.IdleRanges();

  /** Number of all windows, those that are loaded or closed now included. */
  private int windows;

  /**
   * @param windowBytes length of a window, a power of two
   * @param maxWindows maximum number of windows
   * @param access of the windows, see {@code ServeSettings.fileAccess}
   * @param excluded directories whose files are never registered
   */
  FileWindows(
      int windowBytes,
      int maxWindows,
      Set<AccessFlag> access,
      List<Path> excluded,
      MapOutputs outputs,
      OpenDevice device,
      ServingBudget memory,
      DiskWork work,
      ShuffleCounters counters) {
    this.windowBytes = windowBytes;
    this.shift = Integer.numberOfTrailingZeros(windowBytes);
    this.maxWindows = maxWindows;
    this.access = Set.copyOf(access);
    this.pinned = !access.contains(AccessFlag.ON_DEMAND);
    this.excluded = List.copyOf(excluded);
    this.outputs = outputs;
    this.device = device;
    this.memory = memory;
    this.work = work;
    this.counters = counters;
  }

  /**
   * The window with a byte of a file; begins to register it if necessary.
   *
   * @param mayLoad whether it may begin
   * @return null when it cannot be used or registered now
   */
  Window window(CachedOutput output, long fileOffset, boolean mayLoad, long nowNs) {
    // A division costs much here.
    int index = (int) (fileOffset >>> shift);
    Window window = output.window(index);
    if (window != null) {
      boolean usable = !window.isIdle() || memory.mayUse(window.pinnedBytes());
      return usable && !window.isFailed() ? window : null;
    }
    boolean registers = mayLoad && output.mayRegister(nowNs) && !output.mapOutput().isIn(excluded);
    return registers ? register(output, index) : null;
  }

  private Window register(CachedOutput output, int index) {
    long start = (long) index << shift;
    int lengthBytes = (int) Math.min(windowBytes, output.mapOutput().lengthBytes() - start);
    if (windows >= maxWindows && evictOldest() == 0) {
      return null;
    }
    ServingBudget.Reservation reservation = null;
    if (pinned) {
      reservation = memory.mayUse(lengthBytes) ? memory.reserve(lengthBytes, this) : null;
      if (reservation == null) {
        return null;
      }
    }
    Window window = new Window(output, index, start, lengthBytes, reservation);
    windows++;
    output.addWindow(index, window);
    memory.addBusy(window.pinnedBytes());
    work.load(output.disk(), window);
    return window;
  }

  /** Bytes that idle windows hold of the budget. */
  long idleBytes() {
    return pinned ? idle.bytes() : 0;
  }

  /**
   * Takes the least recently used window out of the cache, to be closed; null when none is idle.
   */
  Window takeOldest() {
    Window oldest = (Window) idle.oldest();
    if (oldest != null) {
      oldest.remove();
      counters.increment(Counter.WINDOWS_EVICTED);
    }
    return oldest;
  }

  /** Evicts the least recently used window; returns its length, 0 when none is idle. */
  int evictOldest() {
    Window oldest = takeOldest();
    if (oldest == null) {
      return 0;
    }
    work.close(oldest);
    return oldest.lengthBytes();
  }

  /** Evicts windows that are idle since this time or longer. */
  void returnIdleSince(long thenNs) {
    while (idle.oldest() != null && idle.oldest().idleSinceNs() - thenNs <= 0) {
      idle.oldest().evict();
      counters.increment(Counter.WINDOWS_RETURNED);
    }
  }

  /** The least recently used window; null when none is idle. */
  CachedRange oldestIdle() {
    return idle.oldest();
  }

  /** A window of a map output's data file. */
  final class Window extends CachedRange implements DiskWork.Memory {
    private final int index;
    private final ServingBudget.Reservation reservation;
    private PinnedBudget.Grant grant;
    private MemoryRegion region;
    private long address;
    private long remoteKey;

    Window(
        CachedOutput output,
        int index,
        long offset,
        int lengthBytes,
        ServingBudget.Reservation reservation) {
      super(output, offset, lengthBytes);
      this.index = index;
      this.reservation = reservation;
    }

    @Override
    void load() throws IOException, VerbsException {
      if (reservation == null) {
        outputs.loadPages(output().mapOutput(), offset(), lengthBytes());
      } else {
        grant = reservation.take(device.budget());
        if (grant == null) {
          throw new IOException("others have taken the memory");
        }
      }
      try {
        region =
            device
                .domain()
                .registerFile(output().mapOutput().dataFile(), offset(), lengthBytes(), access);
      } finally {
        if (region == null && grant != null) {
          grant.close();
        }
      }
    }

    @Override
    boolean onLoaded(Exception failure, long nowNs) {
      if (reservation != null) {
        reservation.onLoaded();
      }
      if (failure != null) {
        LOG.debug("File could not be registered", failure);
        refuse(failure, nowNs);
        return false;
      }
      RemoteRegion remote = region.remote();
      address = remote.address();
      remoteKey = remote.remoteKey();
      counters.increment(Counter.WINDOWS_REGISTERED);
      return true;
    }

    /** Not to be tried again at once, so that a failure does not cost a call for each block. */
    private void refuse(Exception failure, long nowNs) {
      boolean full =
          failure instanceof VerbsException refused && refused.errno() == VerbsException.ENOMEM;
      boolean taken = reservation != null && grant == null;
      output().refuseWindows(nowNs + (full || taken ? FULL_NS : REFUSED_NS));
      if (full) {
        // Idle windows of other outputs hold what the device lacks.
        device.budget().reportRefusal(lengthBytes());
      }
    }

    @Override
    long address() {
      return address;
    }

    @Override
    long remoteKey() {
      return remoteKey;
    }

    @Override
    boolean isCopy() {
      return false;
    }

    @Override
    void onBusy() {
      idle.remove(this);
      memory.addBusy(pinnedBytes());
    }

    @Override
    void onIdle(long nowNs) {
      super.onIdle(nowNs);
      memory.removeBusy(pinnedBytes());
      idle.add(this);
      if (output().isRemoved()) {
        evict();
      }
    }

    @Override
    void onDropped() {
      if (reservation != null) {
        memory.cancel(reservation);
      }
      memory.removeBusy(pinnedBytes());
      output().removeWindow(index);
      onClosed();
    }

    private void remove() {
      idle.remove(this);
      output().removeWindow(index);
    }

    @Override
    void evict() {
      remove();
      work.close(this);
    }

    @Override
    public long pinnedBytes() {
      return pinned ? lengthBytes() : 0;
    }

    @Override
    public void close() {
      try {
        region.close();
      } finally {
        if (grant != null) {
          grant.close();
        }
      }
    }

    @Override
    public void onClosed() {
      windows--;
    }
  }
}
