/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
