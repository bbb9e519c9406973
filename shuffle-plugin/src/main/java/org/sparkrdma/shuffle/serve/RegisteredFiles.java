// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/**
 * Registers map-output files in windows for remote reading only, and leases them. {@link
 * UnleasedWindows} deregisters the least recently used window when the budget is used up.
 *
 * <p>Windows that page on demand are not pinned and not charged to the budget; their number and the
 * idle time-out bound them. They are read from the disk before their registration, as the pinning
 * of others does, so that a slow disk delays the answer, which says so, and not the READs. When the
 * request that reads one does not need it any more, it does not register it.
 *
 * <p>A window with a lease is never deregistered. So leased windows and copy slots together leave
 * the budget's reserve to receive memory; idle windows may use all of it. After a failure a file is
 * not registered again for a second, so that a file system that cannot be registered does not cost
 * a system call for each block; where the device has no room, for 10 ms, and idle windows are
 * evicted. Used with the server's lock, which is released while the device registers, and now and
 * then while windows are evicted.
 */
final class RegisteredFiles {
  private static final Logger LOG = LoggerFactory.getLogger(RegisteredFiles.class);
  private static final long REFUSED_NS = Duration.ofSeconds(1).toNanos();

  /** The same for a device that has no room, until idle windows are evicted. */
  private static final long FULL_NS = Duration.ofMillis(10).toNanos();

  private final int windowBytes;
  private final int maxWindows;
  private final Set<AccessFlag> access;
  private final boolean pinned;
  private final MapOutputs outputs;
  private final ProtectionDomain domain;
  private final PinnedBudget budget;
  private final ShuffleCounters counters;
  private final StateLock state;
  private final LongSupplier nanoClock;
  private final UnleasedWindows unleased;
  private List<Path> refusing = List.of();
  private long leasedBytes;
  private LongSupplier slotBytes = () -> 0;

  /**
   * @param maxWindows maximum number of windows
   * @param access of the windows, see {@code ServeSettings.fileAccess}
   * @param outputs reads windows that are not pinned
   * @param unleased makes room for more windows
   */
  RegisteredFiles(
      int windowBytes,
      int maxWindows,
      Set<AccessFlag> access,
      MapOutputs outputs,
      ProtectionDomain domain,
      UnleasedWindows unleased,
      PinnedBudget budget,
      ShuffleCounters counters,
      StateLock state,
      LongSupplier nanoClock) {
    this.windowBytes = windowBytes;
    this.maxWindows = maxWindows;
    this.access = EnumSet.copyOf(access);
    pinned = !access.contains(AccessFlag.ON_DEMAND);
    this.outputs = outputs;
    this.domain = domain;
    this.unleased = unleased;
    this.budget = budget;
    this.counters = counters;
    this.state = state;
    this.nanoClock = nanoClock;
  }

  /** Files in these directories are never registered. */
  void excludeDirectories(List<Path> directories) {
    refusing = directories;
  }

  /** Sets the number of bytes registered for copy slots, which count like leased windows. */
  void countSlots(LongSupplier registeredBytes) {
    slotBytes = registeredBytes;
  }

  /**
   * Whether leased windows and copy slots leave the budget's reserve to others when they take this
   * much more. The first of them may always be taken.
   */
  boolean leavesReserve(long moreBytes) {
    assert state.isHeld();
    long taken = leasedBytes + slotBytes.getAsLong();
    return taken == 0 || taken + moreBytes <= budget.limitBytes() - budget.reservedBytes();
  }

  /**
   * Leases the window that contains a byte of the file; registers it if necessary.
   *
   * @return null when it cannot be registered now, or the peer's share or that of all peers is used
   *     up
   */
  FileWindow lease(ServedOutput output, long fileOffset, Lease lease) {
    assert state.isHeld();
    int index = ServingMode.windowIndex(fileOffset, windowBytes);
    FileWindow window = output.window(index);
    if (!lease.share().admitWindow(window)) {
      return null;
    }
    boolean leased = window != null && window.isLeased();
    if (pinned && !leased && !leavesReserve(windowLength(output, index))) {
      return null;
    }
    if (window == null) {
      window = register(output, index, lease);
      if (window == null) {
        return null;
      }
      // The lock was released meanwhile, and other windows may have been leased.
      boolean fits = !pinned || window.isLeased() || leavesReserve(window.pinnedBytes());
      if (!fits || !lease.share().admitWindow(window)) {
        return null;
      }
    }
    boolean wasIdle = !window.isLeased();
    if (!window.isLastLeasedBy(lease.id())) {
      // First, because it allocates and so may throw.
      lease.add(window);
      window.lease(lease.id());
      if (wasIdle) {
        leasedBytes += window.pinnedBytes();
        unleased.remove(window);
        output.onLeased();
      }
    }
    return window;
  }

  /** Time for {@link #endLease}. */
  long nowNs() {
    return nanoClock.getAsLong();
  }

  /**
   * A lease on the window has ended. That of a removed map output is deregistered later, since the
   * end of a peer may end leases of any number of windows.
   *
   * @param nowNs read once for all windows of the lease
   */
  void endLease(FileWindow window, long nowNs) {
    assert state.isHeld();
    window.endLease();
    if (!window.isLeased()) {
      leasedBytes -= window.pinnedBytes();
      window.output().onIdle();
      window.idleSinceNs(nowNs);
      unleased.add(window);
    }
  }

  private FileWindow register(ServedOutput output, int index, Lease lease) {
    FileWindow registered = awaitWindow(output, index);
    if (registered != null
        || !lease.needsWindows()
        || !output.mayRegister(nanoClock.getAsLong())
        || isExcluded(output.mapOutput())) {
      return registered;
    }
    long start = (long) index * windowBytes;
    long lengthBytes = windowLength(output, index);
    if (pinned && !unleased.makeRoom(lengthBytes, () -> isWanted(output, index, lease))) {
      // Perhaps because another request registers it.
      return awaitWindow(output, index);
    }
    if (unleased.windowCount() >= maxWindows && !unleased.tryEvict()) {
      return null;
    }
    Optional<PinnedBudget.Grant> grant = pinned ? budget.tryGrant(lengthBytes) : Optional.empty();
    if (pinned && grant.isEmpty()) {
      return null;
    }
    unleased.onRegistration();
    output.beginRegistration(index);
    MemoryRegion region = null;
    FileWindow window = null;
    try {
      region = registerUnlocked(output, start, lengthBytes, lease);
      if (region != null && !output.isRemoved()) {
        window = new FileWindow(output, index, region, grant);
        output.onRegistered(window);
      }
    } finally {
      try {
        if (window == null) {
          onNotRegistered(output, index, region, grant);
        }
      } finally {
        state.signalRegistrationEnded();
      }
    }
    if (window != null) {
      window.idleSinceNs(nanoClock.getAsLong());
      unleased.add(window);
      lease.addRegistered(lengthBytes);
      counters.increment(Counter.WINDOWS_REGISTERED);
    }
    return window;
  }

  /** The window, once no other request registers it; null when it is not registered. */
  private FileWindow awaitWindow(ServedOutput output, int index) {
    state.awaitRegistration(() -> output.isRegistering(index));
    return output.window(index);
  }

  /** Whether a window must still be registered for a lease, after other threads had the lock. */
  private boolean isWanted(ServedOutput output, int index, Lease lease) {
    return !lease.isCancelled()
        && output.window(index) == null
        && !output.isRegistering(index)
        && output.mayRegister(nanoClock.getAsLong());
  }

  /** Other requests wait for the end of the registration, whatever the device does. */
  private void onNotRegistered(
      ServedOutput output, int index, MemoryRegion region, Optional<PinnedBudget.Grant> grant) {
    unleased.onRegistrationFailed();
    try {
      if (region != null) {
        region.close();
        grant.ifPresent(PinnedBudget.Grant::close);
      } else {
        grant.ifPresent(PinnedBudget.Grant::closeUnused);
      }
    } finally {
      output.onRegistrationFailed(index);
    }
  }

  private long windowLength(ServedOutput output, int index) {
    return Math.min(windowBytes, output.mapOutput().lengthBytes() - (long) index * windowBytes);
  }

  /** Pinning reads the file from its disk, so the lock is released. */
  private MemoryRegion registerUnlocked(
      ServedOutput output, long start, long lengthBytes, Lease lease) {
    try {
      if (!pinned) {
        state.<Void, IOException>unlocked(
            () -> {
              outputs.loadPages(output.mapOutput(), start, lengthBytes);
              return null;
            });
        if (output.isRemoved() || !lease.needsWindows()) {
          return null;
        }
      }
      return state.unlocked(
          () -> domain.registerFile(output.mapOutput().dataFile(), start, lengthBytes, access));
    } catch (IOException e) {
      LOG.debug("File could not be read before its registration", e);
      output.blockRegistration(nanoClock.getAsLong() + REFUSED_NS);
      return null;
    } catch (VerbsException e) {
      boolean full = e.errno() == VerbsException.ENOMEM;
      LOG.debug("File could not be registered", e);
      output.blockRegistration(nanoClock.getAsLong() + (full ? FULL_NS : REFUSED_NS));
      if (full) {
        // Idle windows of other outputs hold what the device lacks.
        budget.reportRefusal(lengthBytes);
      }
      return null;
    }
  }

  /** Whether the map output is in one of the excluded directories. */
  boolean isExcluded(MapOutput output) {
    return output.isIn(refusing);
  }
}
