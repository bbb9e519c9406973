// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * The windows that no lease holds, and which of them ends first when memory is needed: one that is
 * spent, then the least recently used. Confined to the agent.
 */
final class IdleWindows {
  private final CopyMemory copies;
  private final ShuffleCounters counters;

  /** Each set has the one first that is idle for longest. */
  private final Set<FileWindow> spent = new LinkedHashSet<>();

  private final Set<FileWindow> others = new LinkedHashSet<>();
  private long bytes;

  /**
   * @param copies memory for which they end
   */
  IdleWindows(CopyMemory copies, ShuffleCounters counters) {
    this.copies = copies;
    this.counters = counters;
  }

  /** A window is idle from now on. */
  void add(FileWindow window, boolean isSpent) {
    (isSpent ? spent : others).add(window);
    addBytes(window.pinnedBytes());
  }

  /** A window is leased, or ends. */
  void remove(FileWindow window) {
    if (spent.remove(window) || others.remove(window)) {
      addBytes(-window.pinnedBytes());
    }
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
  FileWindow first() {
    return firstOf(spent.isEmpty() ? others : spent);
  }

  private static FileWindow firstOf(Set<FileWindow> windows) {
    return windows.isEmpty() ? null : windows.iterator().next();
  }

  /** Evicts some until they had so many bytes; returns how many it was. */
  long evict(long lengthBytes) {
    long evictedBytes = 0;
    FileWindow window = first();
    while (evictedBytes < lengthBytes && window != null) {
      evictedBytes += window.lengthBytes();
      window.evict();
      counters.increment(Counter.WINDOWS_EVICTED);
      window = first();
    }
    return evictedBytes;
  }

  /** Evicts those that are idle since this time or longer. */
  void returnIdleSince(long thenNs) {
    for (Set<FileWindow> windows : List.of(spent, others)) {
      FileWindow window = firstOf(windows);
      while (window != null && window.idleSinceNs() - thenNs <= 0) {
        window.evict();
        counters.increment(Counter.WINDOWS_RETURNED);
        window = firstOf(windows);
      }
    }
  }

  /** Time since which the one that ends first is idle; or the other time without any. */
  long firstIdleNs(long otherNs) {
    FileWindow window = first();
    return window == null ? otherNs : window.idleSinceNs();
  }
}
