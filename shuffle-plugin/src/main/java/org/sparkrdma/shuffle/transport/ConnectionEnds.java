// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The broken connections that are to be ended, a few in each turn of the agent. Owned by the agent.
 *
 * <p>All connections of a stage become idle at about the same time, and all connections through a
 * switch that fails break at the same time. Connections with open requests come first, so that
 * their blocks wait only for the ends of connections that have open requests as well.
 */
final class ConnectionEnds {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionEnds.class);

  /**
   * Maximum number of ends per turn. An end disconnects and destroys a queue pair, which takes 1 to
   * 3 ms on a card; so the completions of other connections wait for about a tick (5 ms) or two. In
   * all the ends take as long as they would in one turn.
   */
  static final int MAX_PER_TURN = 4;

  private final Peers peers;
  private final Set<PeerConnection> waiting = new LinkedHashSet<>();

  ConnectionEnds(Peers peers) {
    this.peers = peers;
  }

  /**
   * Ends a broken connection in this turn or a later one; does nothing when it is added already.
   */
  void add(PeerConnection connection) {
    if (waiting.add(connection)) {
      connection.awaitEnd();
    }
  }

  /** Number of connections that are to be ended, some of which may be closed. */
  int size() {
    return waiting.size();
  }

  /**
   * Ends those whose turn it is.
   *
   * @return number of connections ended; 0 only when none waits any more, so that the agent does
   *     not sleep before all have ended
   */
  int run() {
    if (waiting.isEmpty()) {
      return 0;
    }
    waiting.removeIf(PeerConnection::isClosed);
    int ended = 0;
    PeerConnection next = next();
    while (next != null && ended < MAX_PER_TURN) {
      waiting.remove(next);
      LOG.debug("Closing connection to peer {}: {}", next.peer(), next.broken().detail());
      peers.end(next, next.broken());
      ended++;
      next = next();
    }
    return ended;
  }

  /** The first with open requests, else the first; null without any. */
  private PeerConnection next() {
    PeerConnection first = null;
    for (PeerConnection connection : waiting) {
      if (connection.isEstablished() && !connection.isIdle()) {
        return connection;
      }
      first = first == null ? connection : first;
    }
    return first;
  }
}
