// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

/**
 * Progress of a connection.
 *
 * <pre>
 *  initiator  RESOLVING ─► RESOLVED ─► CONNECTING ─► ESTABLISHED
 *  acceptor   REQUESTED ─► ACCEPTED ─► ESTABLISHED
 *  both       any ─► ENDED, by either end or by a failure; any ─► CLOSED, by the owner
 * </pre>
 */
public enum ConnectionPhase {
  RESOLVING,
  RESOLVED,
  CONNECTING,
  REQUESTED,
  ACCEPTED,
  ESTABLISHED,
  ENDED,
  CLOSED
}
