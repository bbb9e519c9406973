// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

/**
 * A range of a map output's data file in registered memory: a window of the file itself, or a copy.
 * It is freed only when no lease and no LOCATE holds it: after its idle time or when its memory is
 * needed ({@link BlockServer#doWork}, {@link FileWindows}, {@link CopyPool}), or when its shuffle
 * is removed ({@link IndexCache#unregister}). Confined to the agent, but for {@link #load}.
 */
abstract class CachedRange extends CacheEntry {
  private final CachedOutput output;
  private final long offset;
  private final int lengthBytes;
  private boolean idle;
  private long idleSinceNs;

  /** Neighbours in {@link IdleRanges}. */
  private CachedRange older;

  private CachedRange newer;

  CachedRange(CachedOutput output, long offset, int lengthBytes) {
    this.output = output;
    this.offset = offset;
    this.lengthBytes = lengthBytes;
  }

  final CachedOutput output() {
    return output;
  }

  /** Offset of its first byte in the file. */
  final long offset() {
    return offset;
  }

  final int lengthBytes() {
    return lengthBytes;
  }

  /** Address of its first byte as peers see it, once it is ready. */
  abstract long address();

  abstract long remoteKey();

  /** Whether it is a copy. */
  abstract boolean isCopy();

  /** Whether its load has failed for lack of memory, and not because of its file. */
  boolean lacksMemory() {
    return false;
  }

  /** Time since which it is idle. */
  final long idleSinceNs() {
    return idleSinceNs;
  }

  /** Whether it is in a list of idle ranges. */
  final boolean isIdle() {
    return idle;
  }

  @Override
  void onHeld() {
    output.onRangeHeld();
    if (idle) {
      idle = false;
      onBusy();
    }
  }

  @Override
  void onReleased() {
    output.onRangeReleased();
  }

  @Override
  void onIdle(long nowNs) {
    idle = true;
    idleSinceNs = nowNs;
  }

  /** The next one in the list of idle ranges; null for the last. */
  final CachedRange newer() {
    return newer;
  }

  /** It was idle, and is held now. */
  abstract void onBusy();

  /** Removes it, which is idle, from its cache. */
  abstract void evict();

  /**
   * Ranges that nothing holds, least recently used first. A linked list through the ranges
   * themselves, so that leasing allocates nothing.
   */
  static final class IdleRanges {
    private CachedRange oldest;
    private CachedRange newest;
    private long bytes;

    /** Length of all ranges in the list. */
    long bytes() {
      return bytes;
    }

    /** The least recently used one; null when the list is empty. */
    CachedRange oldest() {
      return oldest;
    }

    void add(CachedRange range) {
      range.older = newest;
      if (newest == null) {
        oldest = range;
      } else {
        newest.newer = range;
      }
      newest = range;
      bytes += range.lengthBytes();
    }

    /** Removes a range that is in the list. */
    void remove(CachedRange range) {
      if (range.older == null) {
        oldest = range.newer;
      } else {
        range.older.newer = range.newer;
      }
      if (range.newer == null) {
        newest = range.older;
      } else {
        range.newer.older = range.older;
      }
      range.older = null;
      range.newer = null;
      bytes -= range.lengthBytes();
    }
  }
}
