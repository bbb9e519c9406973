// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

/** State of a port, see ibv_query_port(3). */
public enum PortState {
  /** Reserved: no change of the state. */
  NOP,
  /** The link is down. */
  DOWN,
  /** The link is up, and the port is not yet set up by the subnet manager. */
  INIT,
  /** Set up by the subnet manager, not yet in use. */
  ARMED,
  /** Carries data. */
  ACTIVE,
  /** Carries data; the link has failed for a moment and may recover. */
  ACTIVE_DEFER
}
