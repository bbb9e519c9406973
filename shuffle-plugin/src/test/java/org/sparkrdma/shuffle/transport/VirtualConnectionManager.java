// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;

/** The connection manager of a {@link VirtualExecutor}. For one thread. */
final class VirtualConnectionManager implements ConnectionManager {
  private final VirtualFabric fabric;
  private final VirtualExecutor executor;
  private final InetSocketAddress address;
  private final ArrayDeque<ConnectionEvent> events = new ArrayDeque<>();

  VirtualConnectionManager(
      VirtualFabric fabric, VirtualExecutor executor, InetSocketAddress address) {
    this.fabric = fabric;
    this.executor = executor;
    this.address = address;
  }

  void add(ConnectionEvent event) {
    events.add(event);
  }

  boolean hasEvents() {
    return !events.isEmpty();
  }

  @Override
  public void setTrafficClass(int trafficClass) {}

  @Override
  public Listener listen(InetSocketAddress listenAddress, int backlog) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout) {
    VirtualConnection connection = new VirtualConnection(fabric, executor, address, remote, 0);
    connection.resolve();
    return connection;
  }

  @Override
  public ConnectionEvent pollEvent() {
    ConnectionEvent event = events.poll();
    while (event != null && ((VirtualConnection) event.connection()).isClosed()) {
      event = events.poll();
    }
    return event;
  }

  @Override
  public void close() {}
}
