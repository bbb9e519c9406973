// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.scenarios.faults.plan.Rule;

/** A request that was posted, as the poster sees it, and has not completed. */
final class Sent {
  private final long id;
  private final MemoryRange sink;
  private Rule rule;

  /**
   * @param sink of a READ with data; else null
   */
  Sent(long id, MemoryRange sink) {
    this.id = id;
    this.sink = sink;
  }

  long id() {
    return id;
  }

  MemoryRange sink() {
    return sink;
  }

  /** The rule that fired at it, or null. */
  Rule rule() {
    return rule;
  }

  void setRule(Rule fired) {
    rule = fired;
  }
}
