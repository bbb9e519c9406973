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
package org.sparkrdma.verbs.ibverbs;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
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
import org.sparkrdma.verbs.ibverbs.ffi.CmLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.Pollfd;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaCmId;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaEventChannel;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.SocketAddresses;

/**
 * An event channel of the kernel's connection manager, its identifiers, and the events that its
 * owner has not polled yet. Events are taken from the kernel under a lock, by the owner or by
 * whoever counts what is open.
 */
final class IbverbsConnectionManager implements ConnectionManager {
  private static final byte[] NOTHING = {};

  private final IbverbsDevice device;
  private final CmLibrary cm;
  private final IbverbsCompletionChannel wakeups;
  private final long channel;
  private final int fd;
  private final NativeArena arena = new NativeArena();
  private final long pollfds = arena.allocate(2 * Pollfd.SIZE);
  private final long noTime = arena.allocate(2 * Long.BYTES);
  private final long eventPointer = arena.allocate(Long.BYTES);
  private final Queue<ConnectionEvent> events = new ConcurrentLinkedQueue<>();
  private final Map<Long, IbverbsListener> listeners = new ConcurrentHashMap<>();
  private final Map<Long, IbverbsConnection> connections = new ConcurrentHashMap<>();
  private final Set<IbverbsConnection> attempts = ConcurrentHashMap.newKeySet();
  private final LongSupplier deadline = this::attemptDeadlineNs;
  private final Object taking = new Object();
  private volatile boolean closed;

  private IbverbsConnectionManager(
      IbverbsDevice device, IbverbsCompletionChannel wakeups, long channel) {
    this.device = device;
    this.wakeups = wakeups;
    this.channel = channel;
    cm = device.libraries().cm();
    fd = Memory.getInt(channel + RdmaEventChannel.FD);
    Libc.setNonBlocking(fd);
    Memory.putInt(pollfds + Pollfd.FD, fd);
    Memory.putShort(pollfds + Pollfd.EVENTS, Libc.POLLIN);
    Memory.putInt(pollfds + Pollfd.SIZE + Pollfd.FD, device.asyncEvents().fd());
    Memory.putShort(pollfds + Pollfd.SIZE + Pollfd.EVENTS, Libc.POLLIN);
    wakeups.watch(fd, device.asyncEvents().fd());
    wakeups.addDeadline(deadline);
  }

  static IbverbsConnectionManager create(IbverbsDevice device, IbverbsCompletionChannel wakeups)
      throws VerbsException {
    long channel = device.libraries().cm().createEventChannel();
    if (channel == 0) {
      throw Libraries.failure("rdma_create_event_channel", "");
    }
    return new IbverbsConnectionManager(device, wakeups, channel);
  }

  IbverbsDevice device() {
    return device;
  }

  @Override
  public Listener listen(InetSocketAddress address, int backlog) throws VerbsException {
    checkOpen();
    if (backlog < 1) {
      throw new IllegalArgumentException("a listener needs a backlog: backlog=" + backlog);
    }
    checkResolved(address);
    long id = createId();
    try (NativeArena one = new NativeArena()) {
      long socket = one.allocate(SocketAddresses.SIZE);
      SocketAddresses.write(socket, address);
      if (cm.bindAddr(id, socket) != 0) {
        throw Libraries.failure("rdma_bind_addr", "address=" + address);
      }
      checkDevice(id, address);
      if (cm.listen(id, backlog) != 0) {
        throw Libraries.failure("rdma_listen", "address=" + address);
      }
      var listener =
          new IbverbsListener(this, id, SocketAddresses.read(id + RdmaCmId.ROUTE_ADDR_SRC_ADDR));
      listeners.put(id, listener);
      return listener;
    } catch (VerbsException e) {
      cm.destroyId(id);
      throw e;
    }
  }

  private void checkDevice(long id, InetSocketAddress address) throws VerbsException {
    String other = otherDevice(id);
    if (other != null) {
      throw new VerbsException(
          "rdma_bind_addr",
          "rdma_bind_addr failed: the address is of another device: address="
              + address
              + (" device=" + other + " wanted=" + device.info().name()));
    }
  }

  /** The device that an identifier was bound to, when it is not this one; else null. */
  String otherDevice(long id) {
    long context = Memory.getLong(id + RdmaCmId.VERBS);
    return context == 0 || context == device.context() ? null : Contexts.name(context);
  }

  private long createId() throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      long id = one.allocate(Long.BYTES);
      if (cm.createId(channel, id) != 0) {
        throw Libraries.failure("rdma_create_id", "");
      }
      return Memory.getLong(id);
    }
  }

  @Override
  public Connection resolve(InetSocketAddress remote, InetSocketAddress local, Duration timeout)
      throws VerbsException {
    checkOpen();
    checkResolved(remote);
    long id = createId();
    var connection = IbverbsConnection.resolving(this, id, remote, timeout);
    connections.put(id, connection);
    connection.resolve(local);
    return connection;
  }

  private static void checkResolved(InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("an unresolved address: address=" + address);
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
    if (event == null) {
      takeEvents();
      giveUpLateAttempts();
      event = next();
    }
    return event;
  }

  private ConnectionEvent next() {
    ConnectionEvent event = events.poll();
    while (event != null && ((IbverbsConnection) event.connection()).isClosed()) {
      event = events.poll();
    }
    return event;
  }

  /** Takes from the kernel what is there. Any thread. */
  void takeEvents() {
    synchronized (taking) {
      if (closed || Libc.poll(pollfds, 2, noTime) <= 0) {
        return;
      }
      if (Memory.getShort(pollfds + Pollfd.SIZE + Pollfd.REVENTS) != 0) {
        device.asyncEvents().take();
      }
      while (cm.getCmEvent(channel, eventPointer) == 0) {
        long event = Memory.getLong(eventPointer);
        CmEvent copy = CmEvent.copy(event);
        // Before anything else: whoever destroys the identifier waits for it.
        cm.ackCmEvent(event);
        onEvent(copy);
      }
    }
  }

  private void onEvent(CmEvent event) {
    if (event.type() == CmEvent.CONNECT_REQUEST) {
      onRequest(event);
      return;
    }
    IbverbsConnection connection = connections.get(event.id());
    if (connection != null) {
      connection.onEvent(event);
    }
  }

  private void onRequest(CmEvent event) {
    IbverbsListener listener = listeners.get(event.listenId());
    if (listener == null || otherDevice(event.id()) != null) {
      cm.reject(event.id(), 0, 0);
      cm.destroyId(event.id());
      return;
    }
    IbverbsConnection connection = IbverbsConnection.requested(this, event);
    connections.put(event.id(), connection);
    offer(
        new ConnectionEvent(
            ConnectionEvent.Type.CONNECT_REQUEST, connection, listener, event.privateData(), ""));
  }

  /** Keeps an event for the owner; any thread. */
  void offer(ConnectionEvent event) {
    events.add(event);
    wakeups.wakeup();
  }

  void offer(ConnectionEvent.Type type, IbverbsConnection connection, String reason) {
    offer(new ConnectionEvent(type, connection, null, NOTHING, reason));
  }

  /** A connection waits for an answer until its deadline. */
  void addAttempt(IbverbsConnection connection) {
    attempts.add(connection);
  }

  void removeAttempt(IbverbsConnection connection) {
    attempts.remove(connection);
  }

  private void giveUpLateAttempts() {
    if (!attempts.isEmpty()) {
      long now = System.nanoTime();
      attempts.forEach(connection -> connection.giveUpWhenLate(now));
    }
  }

  private long attemptDeadlineNs() {
    long least = Long.MAX_VALUE;
    if (attempts.isEmpty()) {
      return least;
    }
    for (IbverbsConnection connection : attempts) {
      long at = connection.deadlineNs();
      if (least == Long.MAX_VALUE || at - least < 0) {
        least = at;
      }
    }
    return least;
  }

  void onClosed(IbverbsConnection connection, long id) {
    attempts.remove(connection);
    connections.remove(id);
  }

  /** Drops the listener and the requests that nobody has polled. */
  void onClosed(IbverbsListener listener) {
    listeners.remove(listener.id());
    cm.destroyId(listener.id());
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
    synchronized (taking) {
      if (closed) {
        return;
      }
      closed = true;
    }
    wakeups.removeDeadline(deadline);
    wakeups.unwatch(fd, device.asyncEvents().fd());
    listeners.values().forEach(IbverbsListener::close);
    connections.values().forEach(IbverbsConnection::close);
    events.clear();
    cm.destroyEventChannel(channel);
    arena.close();
    device.forget(this);
  }
}
