// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/**
 * State of a queue pair, see ibv_modify_qp(3).
 *
 * <pre>
 *   INIT ──accept, or connect's reply──► READY_TO_SEND ──disconnect, error completion──► ERROR
 *     │                                                                                   │
 *     └───────────────────────────── close ──────────────────► DESTROYED ◄── close ───────┘
 * </pre>
 */
public enum QueuePairState {
  /** Receives may be posted, sends may not. */
  INIT,
  /** Connected. */
  READY_TO_SEND,
  /** All work, posted before or later, completes with {@link WorkStatus#FLUSH_ERROR}. */
  ERROR,
  /** Closed; the device no longer accesses the memory of its work. */
  DESTROYED
}
