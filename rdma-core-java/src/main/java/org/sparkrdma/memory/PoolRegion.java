// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;

/**
 * Chunks of a {@link RegisteredPool} that are registered at once, with their memory and grant: how
 * many of them are in use, and whether it may be deregistered. Guarded by the pool.
 */
final class PoolRegion {
  private final HostMemory memory;
  private final MemoryRegion region;
  private final PinnedBudget.Grant grant;

  /** Number of its chunks that are in use. */
  private int chunksOut;

  /** Whether a chunk of it was taken since the last check. */
  private boolean used = true;

  /** Whether it may be deregistered. */
  private boolean idle;

  PoolRegion(HostMemory memory, MemoryRegion region, PinnedBudget.Grant grant) {
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

  boolean isUnused() {
    return chunksOut == 0;
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
