// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.WorkRequest;

/** Part of a region. */
record MemoryRange(MemoryRegion region, long offset, int lengthBytes) {
  /** The local memory of a request, which is of one element. */
  static MemoryRange of(WorkRequest request) {
    return new MemoryRange(request.region(0), request.offset(0), request.length(0));
  }

  boolean overlaps(MemoryRange other) {
    return region.equals(other.region)
        && offset < other.offset + other.lengthBytes
        && other.offset < offset + lengthBytes;
  }
}
