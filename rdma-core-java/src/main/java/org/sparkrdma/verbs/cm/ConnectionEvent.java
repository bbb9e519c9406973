// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.cm;

/**
 * An event of a connection, see rdma_get_cm_event(3).
 *
 * @param type kind of event
 * @param connection its connection; for {@link Type#CONNECT_REQUEST} a new one, null for an event
 *     of the whole device
 * @param listener listener of a {@link Type#CONNECT_REQUEST}; else null
 * @param privateData private data of the peer; empty when there is none, perhaps padded with zeros
 * @param reason reason of a failure, for logs; else empty
 */
public record ConnectionEvent(
    Type type, Connection connection, Listener listener, byte[] privateData, String reason) {

  /** Kinds of events. */
  public enum Type {
    /** Address and route are known: create the queue pair and connect. */
    RESOLVED,
    /** There is no route to the address. */
    RESOLVE_FAILED,
    /** A peer asks for a connection: accept or reject it. */
    CONNECT_REQUEST,
    /** Both ends may send. */
    ESTABLISHED,
    /**
     * The peer or its host rejected the request; {@link ConnectionEvent#privateData} may hold a
     * reason.
     */
    REJECTED,
    /**
     * The peer's host rejected the request because it still had a stale connection with a queue
     * pair of this number, such as that of a process that was killed. It ends the stale connection,
     * so the next request may be accepted.
     */
    REJECTED_AS_STALE,
    /** The peer did not answer within the time-out. */
    UNREACHABLE,
    /** The attempt failed for another reason. */
    CONNECT_ERROR,
    /** The connection has ended; its queue pair is in error. */
    DISCONNECTED,
    /** The device was removed, with all objects on it. Each connection gets this event too. */
    DEVICE_REMOVED,
    /** The device cannot be used now: it failed, its port is down, or its address moved. */
    DEVICE_DOWN
  }
}
