// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

/**
 * Ranges that nothing holds, least recently used first. A linked list through the ranges
 * themselves, so that leasing allocates nothing. Confined to the agent.
 */
final class IdleRanges {
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
