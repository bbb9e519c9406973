// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.util.ArrayList;
import java.util.List;

/** The memory that READs may still write. Confined to the polling thread. */
final class Sinks {
  private final List<MemoryRange> taken = new ArrayList<>();

  /** Adds the sink of a READ; true when another READ may still write there. */
  boolean take(MemoryRange sink) {
    boolean clashes = taken.stream().anyMatch(sink::overlaps);
    taken.add(sink);
    return clashes;
  }

  /** Removes a sink: its READ completed, or its queue pair was destroyed. */
  void remove(MemoryRange sink) {
    taken.remove(sink);
  }
}
