// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

/**
 * Windows without leases, least recently used first. A linked list through the windows themselves,
 * so that leasing allocates nothing. Used with the server's lock.
 */
final class IdleWindows {
  private FileWindow oldest;
  private FileWindow newest;
  private long pinnedBytes;

  /** Pinned bytes of all windows in the list. */
  long pinnedBytes() {
    return pinnedBytes;
  }

  /** The least recently used window; null when the list is empty. */
  FileWindow oldest() {
    return oldest;
  }

  void add(FileWindow window) {
    window.older = newest;
    if (newest == null) {
      oldest = window;
    } else {
      newest.newer = window;
    }
    newest = window;
    pinnedBytes += window.pinnedBytes();
  }

  /** Removes a window that is in the list. */
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
    pinnedBytes -= window.pinnedBytes();
  }
}
