// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.WorkRequest;

/** Part of a region. */
record Place(MemoryRegion region, long offset, int lengthBytes) {
  /** The local memory of a request, which is of one element. */
  static Place of(WorkRequest request) {
    return new Place(request.region(0), request.offset(0), request.length(0));
  }

  boolean overlaps(Place other) {
    return region.equals(other.region)
        && offset < other.offset + other.lengthBytes
        && other.offset < offset + lengthBytes;
  }
}
