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
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;

/** Makes connections and keeps their events until the owner polls them. */
final class SoftConnectionManager implements ConnectionManager {
  private static final byte[] NOTHING = {};

  private final SoftDevice device;
  private final SoftCompletionChannel channel;
  private final Queue<ConnectionEvent> events = new ConcurrentLinkedQueue<>();
  private final Set<SoftListener> listeners = ConcurrentHashMap.newKeySet();
  private final Set<SoftConnection> connections = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  SoftConnectionManager(SoftDevice device, SoftCompletionChannel channel) {
    this.device = device;
    this.channel = channel;
  }

  @Override
  public Listener listen(InetSocketAddress address, int backlog) throws VerbsException {
    checkOpen();
    if (backlog < 1) {
      throw new IllegalArgumentException("a listener needs a backlog: backlog=" + backlog);
    }
    ServerSocketChannel socket = null;
    try {
      socket = ServerSocketChannel.open();
      socket.configureBlocking(false);
      // The backlog is of requests; sockets that have not greeted yet are bounded by a setting.
      socket.bind(address, device.settings().maxHalfOpen());
      var listener = new SoftListener(device, this, socket, backlog);
      listeners.add(listener);
      device.thread().call(listener::register);
      return listener;
    } catch (IOException | RuntimeException e) {
      closeQuietly(socket, e);
      throw new VerbsException(
          "rdma_listen", "rdma_listen failed: " + e.getMessage() + " address=" + address, e);
    }
  }

  private static void closeQuietly(ServerSocketChannel socket, Exception cause) {
    if (socket != null) {
      try {
        socket.close();
      } catch (IOException e) {
        cause.addSuppressed(e);
      }
    }
  }

  @Override
  public Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout)
      throws VerbsException {
    checkOpen();
    if (remote.isUnresolved()) {
      throw new IllegalArgumentException("an unresolved address: remote=" + remote);
    }
    var connection = new SoftConnection(device, this, remote, local);
    connections.add(connection);
    try {
      connection.onResolved(route(remote, local));
    } catch (IOException e) {
      connection.onFailed(
          ConnectionEvent.Type.RESOLVE_FAILED, "no way to the address: " + e.getMessage());
    }
    return connection;
  }

  /** The address that the kernel would come from. */
  private static InetSocketAddress route(InetSocketAddress remote, InetSocketAddress local)
      throws IOException {
    try (DatagramChannel probe = DatagramChannel.open()) {
      if (local != null) {
        probe.bind(new InetSocketAddress(local.getAddress(), 0));
      }
      probe.connect(remote);
      var from = (InetSocketAddress) probe.getLocalAddress();
      return new InetSocketAddress(from.getAddress(), local == null ? 0 : local.getPort());
    } catch (java.nio.channels.UnsupportedAddressTypeException e) {
      throw new IOException("unsupported address type", e);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("connection manager is closed");
    }
  }

  @Override
  public ConnectionEvent pollEvent() {
    for (ConnectionEvent event = events.poll(); event != null; event = events.poll()) {
      if (event.listener() != null) {
        ((SoftListener) event.listener()).onTaken();
      }
      if (!((SoftConnection) event.connection()).isClosed()) {
        return event;
      }
    }
    return null;
  }

  /** Keeps an event for the owner; any thread. */
  void offer(ConnectionEvent event) {
    events.add(event);
    channel.signal();
  }

  void offer(ConnectionEvent.Type type, SoftConnection connection, String reason) {
    offer(new ConnectionEvent(type, connection, null, NOTHING, reason));
  }

  void add(SoftConnection connection) {
    connections.add(connection);
  }

  void onClosed(SoftConnection connection) {
    connections.remove(connection);
  }

  /** Drops the listener and the requests that nobody has polled. */
  void onClosed(SoftListener listener) {
    listeners.remove(listener);
    for (ConnectionEvent event : events) {
      if (event.listener() == listener) {
        event.connection().close();
      }
    }
  }

  int listenerCount() {
    return listeners.size();
  }

  int connectionCount() {
    return connections.size();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    listeners.forEach(SoftListener::close);
    connections.forEach(SoftConnection::close);
    events.clear();
    device.forget(this);
  }
}
