// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.EnumSet;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;

/**
 * Registered slots into which bytes are copied and which are leased: the alternative to windows.
 *
 * <p>Blocks of one answer share slots; two answers never share one. Used with the server's lock.
 */
final class CopySlots implements AutoCloseable {
  /** Approximate number of bytes registered at once, in whole slots. */
  private static final int SLAB_BYTES = 4 << 20;

  private final RegisteredPool pool;
  private final RegisteredFiles files;
  private final UnleasedWindows unleased;
  private final StateLock state;
  private final long slabBytes;

  /**
   * @param slots at least 1
   * @param files counts slots like leased windows
   * @param unleased deregisters windows when slots need memory
   */
  CopySlots(
      int slotBytes,
      int slots,
      Device device,
      ProtectionDomain domain,
      PinnedBudget budget,
      RegisteredFiles files,
      UnleasedWindows unleased,
      StateLock state,
      LongSupplier nanoClock) {
    // At most an eighth of the budget, so that windows fit beside a slab.
    long wanted = Math.min(SLAB_BYTES, budget.limitBytes() / 8);
    int slotsPerSlab = (int) Math.min(slots, Math.max(1, wanted / slotBytes));
    this.slabBytes = (long) slotsPerSlab * slotBytes;
    this.files = files;
    this.unleased = unleased;
    this.state = state;
    this.pool =
        new RegisteredPool(
            device,
            domain,
            budget,
            EnumSet.of(AccessFlag.REMOTE_READ),
            slotBytes,
            slotsPerSlab,
            (long) slots * slotBytes,
            nanoClock);
    files.countSlots(pool::registeredBytes);
  }

  /**
   * Takes a free slot for a lease, if necessary out of memory that is registered for it. While
   * windows are evicted for that memory, other threads may have the lock.
   */
  Optional<RegisteredChunk> take(Lease lease) {
    assert state.isHeld();
    Optional<RegisteredChunk> free = tryTake();
    if (free.isEmpty() && mayGrow()) {
      boolean hasRoom =
          unleased.makeRoom(slabBytes, () -> !lease.isCancelled() && areAllLent() && mayGrow());
      if (hasRoom || !areAllLent()) {
        free = tryTake();
      }
    }
    return free;
  }

  private boolean mayGrow() {
    return mayTake() && pool.couldGrow();
  }

  private Optional<RegisteredChunk> tryTake() {
    return mayTake() ? pool.tryTake() : Optional.empty();
  }

  private boolean mayTake() {
    return !areAllLent() || files.leavesReserve(slabBytes);
  }

  private boolean areAllLent() {
    return (long) pool.chunksOut() * pool.chunkBytes() == pool.registeredBytes();
  }

  /**
   * Deregisters memory without leased slots.
   *
   * @param max maximum number of regions
   * @return number of regions that were deregistered
   */
  int trim(int max) {
    assert state.isHeld();
    return pool.trim(max);
  }

  /** Whether any memory is registered for slots. */
  boolean isRegistered() {
    return pool.registeredBytes() > 0;
  }

  /** Marks memory as idle that was not leased since the last call. */
  void markIdle() {
    assert state.isHeld();
    pool.markIdle();
  }

  /**
   * Deregisters memory that is marked as idle and not leased since.
   *
   * @param max maximum number of regions
   * @return number of regions that were deregistered
   */
  int trimIdle(int max) {
    assert state.isHeld();
    return pool.trimIdle(max);
  }

  /** Called after the last lease has ended. */
  @Override
  public void close() {
    assert state.isHeld();
    pool.close();
  }
}
