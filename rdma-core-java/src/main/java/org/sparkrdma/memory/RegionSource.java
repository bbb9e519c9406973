// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.VerbsException;

/**
 * Registers the regions of a {@link RegisteredPool}, within the {@link PinnedBudget}, to which it
 * reports what is lacking.
 *
 * <p>A region that the device refuses costs system calls, and takers try again and again. So after
 * a refusal it registers none for {@value #PAUSE_MS} ms. Safe for any thread.
 */
final class RegionSource {
  /** Shorter than the wait of a block for memory, so that a refusal of the moment ends before. */
  static final long PAUSE_MS = 10;

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(PAUSE_MS);

  private final OpenDevice open;
  private final Set<AccessFlag> access;
  private final long regionBytes;

  /** Whether the device has refused the last region, at {@link #refusedNs}. */
  private boolean refused;

  private long refusedNs;

  RegionSource(OpenDevice open, Set<AccessFlag> access, long regionBytes) {
    this.open = open;
    this.access = Set.copyOf(access);
    this.regionBytes = regionBytes;
  }

  /** Registers a region; null when there is no memory for it. */
  PoolRegion tryRegister() {
    if (isPaused()) {
      open.budget().reportRefusal(regionBytes);
      return null;
    }
    Optional<PinnedBudget.Grant> grant = open.budget().tryGrant(regionBytes);
    if (grant.isEmpty()) {
      open.budget().reportShortage(regionBytes);
      return null;
    }
    PoolRegion added = register(grant.get());
    if (added == null) {
      open.budget().reportRefusal(regionBytes);
    }
    return added;
  }

  /** Returns null, without the grant, when the device refuses. */
  private PoolRegion register(PinnedBudget.Grant grant) {
    HostMemory memory = null;
    MemoryRegion region = null;
    try {
      memory = open.device().allocate(regionBytes);
      region = open.domain().register(memory, 0, regionBytes, access);
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
    return new PoolRegion(memory, region, grant);
  }

  private synchronized void onRegistered(boolean success) {
    refused = !success;
    refusedNs = open.nanoClock().getAsLong();
  }

  private synchronized boolean isPaused() {
    return refused && open.nanoClock().getAsLong() - refusedNs < PAUSE_NS;
  }

  /** Number of regions that the budget allows now; 0 after a refusal of the device. */
  long available() {
    return isPaused() ? 0 : open.budget().availableBytes() / regionBytes;
  }

  /** Reports that memory is lacking for so many bytes, in whole regions. */
  void reportShortage(long lengthBytes) {
    long neededBytes = (lengthBytes + regionBytes - 1) / regionBytes * regionBytes;
    if (isPaused()) {
      open.budget().reportRefusal(neededBytes);
    } else {
      open.budget().reportShortage(neededBytes);
    }
  }
}
