// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.util.ArrayList;
import java.util.List;

/** The memory that READs may still write. Owned by the polling thread. */
final class Sinks {
  private final List<Place> taken = new ArrayList<>();

  /** A READ goes there; true when another one may still write there. */
  boolean take(Place sink) {
    boolean clashes = taken.stream().anyMatch(sink::overlaps);
    taken.add(sink);
    return clashes;
  }

  /** It has completed, or its queue pair is destroyed. */
  void giveBack(Place sink) {
    taken.remove(sink);
  }
}
