// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.List;

/**
 * State of an {@link RdmaRuntime} at one moment.
 *
 * @param reasons why RDMA is not up
 * @param open null unless it is {@link State#UP}; after a stop what was up, to be closed
 */
record RuntimeStatus(State state, List<String> reasons, OpenRdma open) {
  /**
   * The states:
   *
   * <pre>
   *   STARTING ──► UP ◄──► RESTARTING ◄── STARTING
   *   STARTING ──► OFF
   *   any state ──► STOPPED
   * </pre>
   */
  enum State {
    /** The first start is running; with reasons it hangs. */
    STARTING,
    /** Serving and fetching. */
    UP,
    /** RDMA is not used, for the reasons given; another start follows or runs. */
    RESTARTING,
    /** RDMA is not used as long as the executor lives, for the reasons given. */
    OFF,
    /** Closed, or the JVM ends. */
    STOPPED
  }

  static final RuntimeStatus STARTING = new RuntimeStatus(State.STARTING, List.of(), null);

  RuntimeStatus {
    reasons = List.copyOf(reasons);
  }

  static RuntimeStatus up(OpenRdma open) {
    return new RuntimeStatus(State.UP, List.of(), open);
  }

  /** RDMA is not used, in one of the states with reasons. */
  static RuntimeStatus down(State state, List<String> reasons) {
    return new RuntimeStatus(state, reasons, null);
  }

  RuntimeStatus stopped() {
    return new RuntimeStatus(State.STOPPED, reasons, open);
  }

  boolean is(State other) {
    return state == other;
  }

  /** Why RDMA is not up. */
  String reasonText() {
    return reasons.isEmpty() ? "still starting" : String.join("; ", reasons);
  }
}
