// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * The windows that no lease holds, and which of them ends first when memory is needed: one that is
 * spent, then the least recently used. A list through the windows themselves, so that leasing
 * allocates nothing. Confined to the agent.
 */
final class IdleWindows {
  private final CopyMemory copies;
  private final ShuffleCounters counters;
  private FileWindow oldest;
  private FileWindow newest;
  private long bytes;

  /**
   * @param copies memory for which they end
   */
  IdleWindows(CopyMemory copies, ShuffleCounters counters) {
    this.copies = copies;
    this.counters = counters;
  }

  /**
   * A window is idle from now on.
   *
   * @param endsFirst whether it ends before all others, and not after them
   */
  void add(FileWindow window, boolean endsFirst) {
    FileWindow older = endsFirst ? null : newest;
    FileWindow newer = endsFirst ? oldest : null;
    window.older = older;
    window.newer = newer;
    if (older == null) {
      oldest = window;
    } else {
      older.newer = window;
    }
    if (newer == null) {
      newest = window;
    } else {
      newer.older = window;
    }
    addBytes(window.pinnedBytes());
  }

  /** A window is leased, or ends. */
  void remove(FileWindow window) {
    if (window.older == null) {
      oldest = window.newer;
    } else {
      window.older.newer = window.newer;
    }
    if (window.newer == null) {
      newest = window.older;
    } else {
      window.newer.older = window.older;
    }
    window.older = null;
    window.newer = null;
    addBytes(-window.pinnedBytes());
  }

  private void addBytes(long lengthBytes) {
    bytes += lengthBytes;
    copies.setIdleBytes(bytes);
  }

  /** Bytes that they hold of the budget. */
  long bytes() {
    return bytes;
  }

  /** The one that ends first; null without any. */
  FileWindow oldest() {
    return oldest;
  }

  /** Evicts the one that ends first; returns its length, 0 without any. */
  long evictOldest() {
    FileWindow evicted = oldest;
    if (evicted == null) {
      return 0;
    }
    evicted.evict();
    counters.increment(Counter.WINDOWS_EVICTED);
    return evicted.lengthBytes();
  }

  /** Evicts some until they had so many bytes; returns how many it was. */
  long evict(long lengthBytes) {
    long evictedBytes = 0;
    long lastBytes = 1;
    while (evictedBytes < lengthBytes && lastBytes > 0) {
      lastBytes = evictOldest();
      evictedBytes += lastBytes;
    }
    return evictedBytes;
  }

  /** Evicts those that are idle since this time or longer. */
  void returnIdleSince(long thenNs) {
    FileWindow window = oldest;
    while (window != null) {
      FileWindow next = window.newer;
      if (window.idleSinceNs() - thenNs <= 0) {
        window.evict();
        counters.increment(Counter.WINDOWS_RETURNED);
      } else if (!window.isSpent()) {
        return;
      }
      window = next;
    }
  }

  /** Time since which the one that ends first is idle; or the other time without any. */
  long oldestIdleNs(long otherNs) {
    return oldest == null ? otherNs : oldest.idleSinceNs();
  }
}
