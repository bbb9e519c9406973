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
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.shuffle.connection.Peer;
import org.sparkrdma.shuffle.connection.PeerConnection;
import org.sparkrdma.shuffle.connection.TransportContext;
import org.sparkrdma.shuffle.wire.Binding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.verbs.cm.Connection;

/** All connections there are, by the place that their work requests name. Owned by the agent. */
final class ConnectionTable {
  private final TransportContext context;
  private final PeerConnection[] places;
  private final List<PeerConnection> all = new ArrayList<>();
  private long nextNumber = 1;

  /**
   * @param size most connections at once, established or not
   */
  ConnectionTable(TransportContext context, int size) {
    this.context = context;
    this.places = new PeerConnection[size];
  }

  boolean hasRoom() {
    return all.size() < places.length;
  }

  /** The connection that has been idle the longest, if one is idle. */
  Optional<PeerConnection> longestIdle(long nowNs) {
    PeerConnection longest = null;
    for (PeerConnection connection : all) {
      if (connection.isEstablished()
          && connection.isIdle()
          && (longest == null || connection.idleNs(nowNs) > longest.idleNs(nowNs))) {
        longest = connection;
      }
    }
    return Optional.ofNullable(longest);
  }

  /** Connections that peers ask for and that are not proven yet. */
  int acceptingCount() {
    int count = 0;
    for (PeerConnection connection : all) {
      count += connection.isAccepting() ? 1 : 0;
    }
    return count;
  }

  /** Adds a connection that this end asks for; there must be room. */
  PeerConnection initiate(Peer peer, Connection connection) {
    return add(
        connection, PeerConnection.initiate(context, peer, freePlace(), nextNumber++, connection));
  }

  /** Adds a connection that a peer asks for with a proven request; there must be room. */
  PeerConnection respond(
      Peer peer, Connection connection, Binding binding, Hello request, Hello answer) {
    return add(
        connection,
        PeerConnection.respond(
            context, peer, freePlace(), nextNumber++, connection, binding, request, answer));
  }

  private int freePlace() {
    int place = 0;
    while (places[place] != null) {
      place++;
    }
    return place;
  }

  private PeerConnection add(Connection connection, PeerConnection added) {
    places[added.place()] = added;
    all.add(added);
    connection.attach(added);
    return added;
  }

  void remove(PeerConnection connection) {
    if (all.remove(connection)) {
      places[connection.place()] = null;
    }
  }

  /** The connection at a place; null when there is none any more. */
  PeerConnection at(int place) {
    return place < places.length ? places[place] : null;
  }

  /** The connection with this number; null when there is none any more. */
  PeerConnection numbered(long number) {
    for (PeerConnection connection : all) {
      if (connection.number() == number) {
        return connection;
      }
    }
    return null;
  }

  int size() {
    return all.size();
  }

  PeerConnection get(int i) {
    return all.get(i);
  }
}
