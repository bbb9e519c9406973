// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.List;

/**
 * State of an {@link RdmaRuntime} at one moment.
 *
 * @param reasons why RDMA is not up, or why no task waits for the first start any more
 * @param parts null unless it is {@link State#UP}; after a stop those that were up, to be closed
 * @param returns whether RDMA is not up, and tasks that need it wait for a start
 */
record RuntimeStatus(State state, List<String> reasons, RunningParts parts, boolean returns) {
  /**
   * The states:
   *
   * <pre>
   *   STARTING ──► UP ◄──► OFF ◄── STARTING
   *   any state ──► STOPPED
   * </pre>
   */
  enum State {
    /** The first start is running; with reasons it hangs. */
    STARTING,
    /** Serving and fetching. */
    UP,
    /** RDMA is not used, for the reasons given; another start may follow or run. */
    OFF,
    /** Closed, or the JVM ends. */
    STOPPED
  }

  static final RuntimeStatus STARTING = new RuntimeStatus(State.STARTING, List.of(), null, true);

  RuntimeStatus {
    reasons = List.copyOf(reasons);
  }

  static RuntimeStatus up(RunningParts parts) {
    return new RuntimeStatus(State.UP, List.of(), parts, false);
  }

  static RuntimeStatus off(List<String> reasons, boolean returns) {
    return new RuntimeStatus(State.OFF, reasons, null, returns);
  }

  RuntimeStatus stopped() {
    return new RuntimeStatus(State.STOPPED, reasons, parts, false);
  }

  boolean is(State other) {
    return state == other;
  }

  /** Whether RDMA is up, or the first start is running and does not take too long. */
  boolean mayFetch() {
    return state == State.UP || (state == State.STARTING && reasons.isEmpty());
  }
}
