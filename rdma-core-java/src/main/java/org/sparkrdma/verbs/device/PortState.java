// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

/** State of a port, see ibv_query_port(3). */
public enum PortState {
  NOP,
  DOWN,
  INIT,
  ARMED,
  ACTIVE,
  ACTIVE_DEFER
}
