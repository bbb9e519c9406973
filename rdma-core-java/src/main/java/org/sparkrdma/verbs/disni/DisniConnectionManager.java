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
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;

/**
 * An event channel, its identifiers, and the events that its owner has not polled yet. A watcher
 * takes the events from the kernel and brings each to its connection.
 */
final class DisniConnectionManager implements ConnectionManager {
  private static final Logger LOG = LoggerFactory.getLogger(DisniConnectionManager.class);
  private static final byte[] NOTHING = {};
  private static final EventType[] TYPES = EventType.values();

  private final DisniDevice device;
  private final DisniCompletionChannel wakeups;
  private final EventChannel channel;
  private final Watcher watcher = new Watcher("rdma-disni-connections", this::watch);
  private final Queue<ConnectionEvent> events = new ConcurrentLinkedQueue<>();
  private final Map<RdmaCmId, DisniListener> listeners = new ConcurrentHashMap<>();
  private final Map<RdmaCmId, DisniConnection> connections = new ConcurrentHashMap<>();
  private final Set<DisniConnection> attempts = ConcurrentHashMap.newKeySet();
  private final LongSupplier deadline = this::attemptDeadlineNs;
  private final Object requests = new Object();
  private boolean closed;

  private DisniConnectionManager(
      DisniDevice device, DisniCompletionChannel wakeups, EventChannel channel) {
    this.device = device;
    this.wakeups = wakeups;
    this.channel = channel;
  }

  static DisniConnectionManager create(DisniDevice device, DisniCompletionChannel wakeups)
      throws VerbsException {
    try {
      var manager = new DisniConnectionManager(device, wakeups, EventChannel.create());
      wakeups.addDeadline(manager.deadline);
      manager.watcher.start();
      return manager;
    } catch (IOException e) {
      throw Failures.of("rdma_create_event_channel", e, "");
    }
  }

  DisniDevice device() {
    return device;
  }

  Watcher watcher() {
    return watcher;
  }

  @Override
  public Listener listen(InetSocketAddress address, int backlog) throws VerbsException {
    checkOpen();
    if (backlog < 1) {
      throw new IllegalArgumentException("a listener needs a backlog: backlog=" + backlog);
    }
    checkAddress("rdma_bind_addr", address);
    RdmaCmId id = createId();
    try {
      id.bindAddr(address);
      String other = device.context().otherDevice(id);
      if (other != null) {
        throw new IOException("the address is of another device: device=" + other);
      }
      var listener = new DisniListener(this, id, (InetSocketAddress) id.getSource());
      listeners.put(id, listener);
      id.listen(backlog);
      return listener;
    } catch (IOException e) {
      listeners.remove(id);
      destroy(id);
      throw Failures.of("rdma_listen", e, "address=" + address);
    }
  }

  @Override
  public Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout)
      throws VerbsException {
    checkOpen();
    checkAddress("rdma_resolve_addr", remote);
    RdmaCmId id = createId();
    var connection = DisniConnection.resolving(this, id, remote, timeout);
    connections.put(id, connection);
    connection.resolve(local);
    return connection;
  }

  private RdmaCmId createId() throws VerbsException {
    try {
      return channel.createId(RdmaCm.RDMA_PS_TCP);
    } catch (IOException e) {
      throw Failures.of("rdma_create_id", e, "");
    }
  }

  private static void checkAddress(String call, InetSocketAddress address) throws VerbsException {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("an unresolved address: address=" + address);
    }
    if (!(address.getAddress() instanceof Inet4Address)) {
      throw new VerbsException(
          call, call + " failed: DiSNI has IPv4 addresses only: address=" + address);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("connection manager is closed");
    }
  }

  @Override
  public ConnectionEvent pollEvent() {
    ConnectionEvent event = next();
    if (event == null && !attempts.isEmpty()) {
      long now = System.nanoTime();
      attempts.forEach(connection -> connection.giveUpWhenLate(now));
      event = next();
    }
    return event;
  }

  private ConnectionEvent next() {
    ConnectionEvent event = events.poll();
    while (event != null && ((DisniConnection) event.connection()).isClosed()) {
      event = events.poll();
    }
    return event;
  }

  // The watcher's.

  private void watch() throws IOException {
    RdmaCmEvent event = channel.getCmEvent(Watcher.TURN_MS);
    if (event == null) {
      return;
    }
    EventType type = TYPES[event.getEvent()];
    if (type == EventType.RDMA_CM_EVENT_CONNECT_REQUEST) {
      onRequest(event.getListenIdPriv(), event.getConnIdPriv());
      return;
    }
    RdmaCmId id = event.getConnIdPriv();
    DisniConnection connection = id == null ? null : connections.get(id);
    if (connection != null) {
      connection.onEvent(type);
    }
  }

  private void onRequest(RdmaCmId listenId, RdmaCmId id) throws IOException {
    synchronized (requests) {
      DisniListener listener = listenId == null ? null : listeners.get(listenId);
      if (listener == null || device.context().otherDevice(id) != null) {
        // The kernel refuses a request whose identifier is destroyed.
        destroy(id);
        return;
      }
      DisniConnection connection = DisniConnection.requested(this, id);
      connections.put(id, connection);
      offer(
          new ConnectionEvent(
              ConnectionEvent.Type.CONNECT_REQUEST, connection, listener, NOTHING, ""));
    }
  }

  // Of connections and listeners, on any thread.

  /** Keeps an event for the owner. */
  private void offer(ConnectionEvent event) {
    events.add(event);
    wakeups.wakeup();
  }

  void offer(ConnectionEvent.Type type, DisniConnection connection, String reason) {
    offer(new ConnectionEvent(type, connection, null, NOTHING, reason));
  }

  /** A connection waits for an answer until its deadline. */
  void addAttempt(DisniConnection connection) {
    attempts.add(connection);
  }

  void removeAttempt(DisniConnection connection) {
    attempts.remove(connection);
  }

  private long attemptDeadlineNs() {
    long least = Long.MAX_VALUE;
    for (DisniConnection connection : attempts) {
      long at = connection.deadlineNs();
      if (least == Long.MAX_VALUE || at - least < 0) {
        least = at;
      }
    }
    return least;
  }

  /** Destroys an identifier and drops what the kernel still reports of it. */
  void destroy(RdmaCmId id) {
    channel.forget(id);
    try {
      Failures.check("rdma_destroy_id", id.destroyId());
    } catch (IOException e) {
      LOG.error("identifier was not destroyed", e);
    }
  }

  void onClosed(DisniConnection connection, RdmaCmId id) {
    attempts.remove(connection);
    connections.remove(id);
    destroy(id);
  }

  /** Drops the listener and the requests that nobody has polled. */
  void onClosed(DisniListener listener) {
    synchronized (requests) {
      listeners.remove(listener.id());
    }
    destroy(listener.id());
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
    synchronized (requests) {
      if (closed) {
        return;
      }
      closed = true;
    }
    watcher.close();
    wakeups.removeDeadline(deadline);
    listeners.values().forEach(DisniListener::close);
    connections.values().forEach(DisniConnection::close);
    events.clear();
    try {
      Failures.check("rdma_destroy_event_channel", channel.destroyEventChannel());
    } catch (IOException e) {
      LOG.error("event channel was not destroyed", e);
    }
    device.forget(this);
  }
}
