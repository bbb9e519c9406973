// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.Listener;

/**
 * The listeners and connections of a connection manager, and the events that its owner has not
 * polled yet. The owner polls; events are offered by any thread. Under its lock it is closed and
 * requests of peers are taken, so that none is added afterwards.
 *
 * <p>The kernel may answer a request long after the caller's time-out; so this ends late attempts
 * when its owner polls, and wakes it for that.
 */
public abstract class EngineConnectionManager extends EngineObject implements ConnectionManager {
  public static final byte[] NO_DATA = {};

  private static final int MAX_TRAFFIC_CLASS = 255;

  private final EngineChannel channel;
  private final Queue<ConnectionEvent> events = new ConcurrentLinkedQueue<>();
  private final Map<Object, EngineListener> listeners = new ConcurrentHashMap<>();
  private final Map<Object, EngineConnection> connections = new ConcurrentHashMap<>();
  private final Set<EngineConnection> attempts = ConcurrentHashMap.newKeySet();
  private final LongSupplier deadline = this::attemptDeadlineNs;
  private volatile OptionalInt trafficClass = OptionalInt.empty();

  protected EngineConnectionManager(EngineDevice device, EngineChannel channel) {
    super(device, "connection manager");
    this.channel = channel;
    channel.addDeadline(deadline);
  }

  @Override
  public final void setTrafficClass(int newTrafficClass) {
    if (newTrafficClass < 0 || newTrafficClass > MAX_TRAFFIC_CLASS) {
      throw new IllegalArgumentException(
          "bad traffic class: value=" + newTrafficClass + " allowed=0 to " + MAX_TRAFFIC_CLASS);
    }
    trafficClass = OptionalInt.of(newTrafficClass);
  }

  /** Traffic class for new identifiers; empty for the system's default. */
  protected final OptionalInt trafficClass() {
    return trafficClass;
  }

  private void checkResolved(InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("an unresolved address: address=" + address);
    }
  }

  @Override
  public Listener listen(InetSocketAddress address, int backlog) throws VerbsException {
    checkOpen();
    if (backlog < 1) {
      throw new IllegalArgumentException("a listener needs a backlog: backlog=" + backlog);
    }
    checkResolved(address);
    return newListener(address, backlog);
  }

  /** Listens, and adds the listener before its first request is taken. */
  protected abstract EngineListener newListener(InetSocketAddress address, int backlog)
      throws VerbsException;

  @Override
  public Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout)
      throws VerbsException {
    checkOpen();
    checkResolved(remote);
    EngineConnection connection = newConnection(remote, Objects.requireNonNull(timeout));
    connections.put(connection.id(), connection);
    connection.resolve(local);
    return connection;
  }

  /** Creates a connection with its identifier, of which nothing is resolved yet. */
  protected abstract EngineConnection newConnection(InetSocketAddress remote, Duration timeout)
      throws VerbsException;

  @Override
  public final ConnectionEvent pollEvent() {
    ConnectionEvent event = nextOfOpen();
    if (event == null) {
      takeEvents();
      event = nextOfOpen();
    }
    if (event == null && !attempts.isEmpty()) {
      long now = System.nanoTime();
      attempts.forEach(connection -> connection.endWhenLate(now));
      event = nextOfOpen();
    }
    return event;
  }

  /** The next event that was offered, without those of connections that their owner has closed. */
  private ConnectionEvent nextOfOpen() {
    ConnectionEvent event = next();
    while (event != null
        && event.connection() instanceof EngineConnection connection
        && connection.isClosed()) {
      event = next();
    }
    return event;
  }

  private ConnectionEvent next() {
    ConnectionEvent event = events.poll();
    if (event != null && event.listener() != null) {
      ((EngineListener) event.listener()).onRequestPolled();
    }
    return event;
  }

  /** A connection waits for an answer until its deadline. */
  final void addAttempt(EngineConnection connection) {
    attempts.add(connection);
  }

  final void removeAttempt(EngineConnection connection) {
    attempts.remove(connection);
  }

  private long attemptDeadlineNs() {
    long least = Long.MAX_VALUE;
    for (EngineConnection connection : attempts) {
      long at = connection.deadlineNs();
      if (least == Long.MAX_VALUE || at - least < 0) {
        least = at;
      }
    }
    return least;
  }

  /**
   * Brings events that wait elsewhere, as in the kernel, to their connections; a few in each turn
   * of the owner. Any thread.
   */
  protected void takeEvents() {}

  /** Brings all events that wait elsewhere to their connections. Any thread. */
  protected void takeAllEvents() {
    takeEvents();
  }

  // Called by the engine, on any thread.

  /** Keeps an event for the owner and wakes it. */
  final void offer(ConnectionEvent event) {
    events.add(event);
    channel.wakeup();
  }

  /** Offers an event of the whole device to the owner. */
  protected final void offerOfDevice(ConnectionEvent.Type type, String reason) {
    offer(new ConnectionEvent(type, null, null, NO_DATA, reason));
  }

  /** Offers a peer's request to the owner. */
  protected final void offerRequest(
      EngineConnection connection, EngineListener listener, byte[] privateData) {
    connections.put(connection.id(), connection);
    offer(
        new ConnectionEvent(
            ConnectionEvent.Type.CONNECT_REQUEST, connection, listener, privateData, ""));
  }

  protected final void add(EngineListener listener) {
    listeners.put(listener.id(), listener);
  }

  /** The connection with that identifier, or null. */
  protected final EngineConnection connection(Object id) {
    return connections.get(id);
  }

  /** The open listener with that identifier, or null. */
  protected final EngineListener listener(Object id) {
    EngineListener found = listeners.get(id);
    return found == null || found.isClosed() ? null : found;
  }

  /**
   * A connection was closed and its identifier destroyed. Another connection that has got the same
   * identifier since stays.
   */
  final void remove(Object id, EngineConnection connection) {
    connections.remove(id, connection);
  }

  /**
   * Closes a listener: destroys it, drops the requests that the owner has not polled, and forgets
   * it at last, so that a close of this manager waits for that.
   */
  final void close(EngineListener listener) {
    synchronized (this) {
      listener.markClosed();
    }
    try {
      destroyListener(listener.id());
    } finally {
      for (ConnectionEvent event : events) {
        if (event.listener() == listener) {
          event.connection().close();
        }
      }
      listeners.remove(listener.id(), listener);
    }
  }

  /** Stops listening; called once for each listener, when no request can find it any more. */
  protected abstract void destroyListener(Object id);

  final int listenerCount() {
    return listeners.size();
  }

  final int connectionCount() {
    return connections.size();
  }

  @Override
  protected final void destroy() {
    var failures = new CloseFailures();
    channel.removeDeadline(deadline);
    failures.run(this::stopEvents);
    failures.closeEach(listeners.values(), EngineListener::close);
    failures.closeEach(connections.values(), EngineConnection::close);
    events.clear();
    failures.run(this::destroyChannel);
    failures.throwFirst();
  }

  /** Called once at close, before listeners and connections are closed. */
  protected void stopEvents() {}

  /** Releases its resources; called once at close, when nothing is left in it. */
  protected void destroyChannel() {}
}
