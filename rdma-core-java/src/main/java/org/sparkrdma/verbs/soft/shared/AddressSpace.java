// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.util.concurrent.atomic.AtomicLong;

/** Gives out ranges of addresses that were never used before. Safe for any thread. */
public final class AddressSpace {
  private static final long FIRST = 0x1000_0000_0000L;
  private static final long PAGE_BYTES = 4_096;

  private final AtomicLong next = new AtomicLong(FIRST);

  /** Takes a page-aligned range and returns its first address; an unused page follows it. */
  public long take(long lengthBytes) {
    long pages = (lengthBytes + PAGE_BYTES - 1) / PAGE_BYTES + 1;
    return next.getAndAdd(pages * PAGE_BYTES);
  }
}
