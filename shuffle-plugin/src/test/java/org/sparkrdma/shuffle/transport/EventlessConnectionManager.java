// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;

/** A connection manager without connections and events. */
final class EventlessConnectionManager implements ConnectionManager {
  @Override
  public void setTrafficClass(int trafficClass) {}

  @Override
  public Listener listen(InetSocketAddress address, int backlog) {
    throw new UnsupportedOperationException("no listener");
  }

  @Override
  public Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout) {
    throw new UnsupportedOperationException("no connection");
  }

  @Override
  public ConnectionEvent pollEvent() {
    return null;
  }

  @Override
  public void close() {}
}
