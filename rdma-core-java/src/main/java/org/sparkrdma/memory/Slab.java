// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;

/**
 * A region of a {@link RegisteredPool} with its memory and grant; compared by identity. Guarded by
 * the pool, which closes it.
 */
final class Slab {
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

  Slab(HostMemory memory, MemoryRegion region, PinnedBudget.Grant grant) {
    this.memory = memory;
    this.region = region;
    this.grant = grant;
  }

  HostMemory memory() {
    return memory;
  }

  MemoryRegion region() {
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
