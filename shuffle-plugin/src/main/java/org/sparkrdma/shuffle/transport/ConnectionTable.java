// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.sparkrdma.verbs.cm.Connection;

/** All connections, by the index that their work requests carry. Owned by the agent. */
final class ConnectionTable {
  private final TransportContext context;
  private final PeerConnection[] byIndex;
  private final List<PeerConnection> all = new ArrayList<>();
  private final List<PeerConnection> ready = new ArrayList<>();
  private long nextNumber = 1;

  /**
   * @param size maximum number of connections, established or not
   */
  ConnectionTable(TransportContext context, int size) {
    this.context = context;
    this.byIndex = new PeerConnection[size];
  }

  boolean hasRoom() {
    return all.size() < byIndex.length;
  }

  /** The connection that has been idle the longest, of those that may make room. */
  Optional<PeerConnection> longestIdle(long nowNs) {
    PeerConnection longest = null;
    for (PeerConnection connection : all) {
      if (connection.mayMakeRoom(nowNs)
          && (longest == null || connection.idleNs(nowNs) > longest.idleNs(nowNs))) {
        longest = connection;
      }
    }
    return Optional.ofNullable(longest);
  }

  /** Number of connections that peers initiated and have not confirmed yet. */
  int unconfirmedCount() {
    int count = 0;
    for (PeerConnection connection : all) {
      count += connection.isUnconfirmed() ? 1 : 0;
    }
    return count;
  }

  /** Adds a connection that this executor initiates; requires {@link #hasRoom}. */
  PeerConnection initiate(Peer peer, Connection connection) {
    return add(connection, PeerConnection.initiate(context, peer, freeSlot(), connection));
  }

  /** Adds a connection that a peer initiates; requires {@link #hasRoom}. */
  PeerConnection respond(Peer peer, Connection connection) {
    return add(connection, PeerConnection.respond(context, peer, freeSlot(), connection));
  }

  private PeerConnection.TableSlot freeSlot() {
    int index = 0;
    while (byIndex[index] != null) {
      index++;
    }
    return new PeerConnection.TableSlot(index, nextNumber++, ready::add);
  }

  private PeerConnection add(Connection connection, PeerConnection added) {
    byIndex[added.index()] = added;
    all.add(added);
    connection.attach(added);
    added.requestTurn();
    return added;
  }

  void remove(PeerConnection connection) {
    if (all.remove(connection)) {
      byIndex[connection.index()] = null;
    }
  }

  /** The connection at an index, or null when it is closed. */
  PeerConnection at(int index) {
    return index < byIndex.length ? byIndex[index] : null;
  }

  /** The connection with this number, or null when it is closed. */
  PeerConnection numbered(long number) {
    for (PeerConnection connection : all) {
      if (connection.number() == number) {
        return connection;
      }
    }
    return null;
  }

  /** Gives a turn to each connection that has requested one, also to those that do so meanwhile. */
  void forEachReady(Consumer<PeerConnection> turn) {
    for (int i = 0; i < ready.size(); i++) {
      PeerConnection connection = ready.get(i);
      connection.beginTurn();
      if (!connection.isClosed()) {
        turn.accept(connection);
      }
    }
    ready.clear();
  }

  int size() {
    return all.size();
  }

  PeerConnection get(int i) {
    return all.get(i);
  }
}
