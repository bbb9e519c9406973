// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import org.sparkrdma.scenarios.faults.plan.Rule;

/** A request that was posted, at least for its poster, and has not completed. */
final class Sent {
  private final long id;
  private final Place sink;
  private Rule rule;

  /**
   * @param sink of a READ that brings something; else null
   */
  Sent(long id, Place sink) {
    this.id = id;
    this.sink = sink;
  }

  long id() {
    return id;
  }

  Place sink() {
    return sink;
  }

  /** What went wrong with it, or null. */
  Rule rule() {
    return rule;
  }

  void struckBy(Rule struck) {
    rule = struck;
  }
}
