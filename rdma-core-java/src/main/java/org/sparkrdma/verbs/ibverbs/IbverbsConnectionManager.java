// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.engine.EngineConnection;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineListener;
import org.sparkrdma.verbs.ibverbs.ffi.CmLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.Pollfd;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaEventChannel;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.SetUpCalls;

/**
 * An event channel of librdmacm and its identifiers. Events are taken from the kernel under the
 * lock, by the owner when it polls or by a caller that counts open resources.
 */
final class IbverbsConnectionManager extends EngineConnectionManager {
  /**
   * Maximum number of the kernel's events that the owner takes before it gets none. The answer to a
   * request costs up to three calls that modify the queue pair in librdmacm, and the end of a
   * connection two, each up to a millisecond on a card. The descriptor stays readable while more
   * wait.
   */
  static final int EVENTS_PER_TURN = 8;

  /** Indexes of the descriptors of librdmacm and of the device's asynchronous events. */
  private static final int CM = 0;

  private static final int DEVICE = 1;
  private static final int DESCRIPTORS = 2;

  private final IbverbsDevice device;
  private final CmLibrary cm;
  private final IbverbsCompletionChannel wakeups;
  private final CmThreads threads;

  private final long channel;
  private final int fd;

  /** Ports of the device that have or had a listener. */
  private final Set<Integer> ports = ConcurrentHashMap.newKeySet();

  private final NativeArena arena = new NativeArena();

  /** Guarded by this. */
  private final long pollfds = arena.allocate(DESCRIPTORS * Pollfd.SIZE);

  private final long noTime = arena.allocate(2 * Long.BYTES);
  private final long eventPointer = arena.allocate(Long.BYTES);

  /** Connections whose request was not sent, and of which something is left to destroy. */
  private final Queue<IbverbsConnection> toEnd = new ConcurrentLinkedQueue<>();

  /** Events taken since the owner last got none; guarded by this. */
  private int taken;

  private IbverbsConnectionManager(
      IbverbsDevice device, IbverbsCompletionChannel wakeups, CmThreads threads, long channel) {
    super(device, wakeups);
    this.device = device;
    this.wakeups = wakeups;
    this.threads = threads;
    this.channel = channel;
    cm = device.libraries().cm();
    fd = Native.getInt(channel + RdmaEventChannel.FD);
    Libc.setNonBlocking(fd);
    setPolled(CM, fd);
    setPolled(DEVICE, device.asyncEvents().fd());
    wakeups.watch(fd, device.asyncEvents().fd());
    device.asyncEvents().listenDevice(this);
  }

  static IbverbsConnectionManager create(IbverbsDevice device, IbverbsCompletionChannel wakeups)
      throws VerbsException {
    CmThreads threads = CmThreads.of(device);
    long channel = device.libraries().cm().createEventChannel();
    if (channel == 0) {
      threads.close(() -> {});
      throw Libraries.failure("rdma_create_event_channel", "");
    }
    return new IbverbsConnectionManager(device, wakeups, threads, channel);
  }

  @Override
  protected EngineListener newListener(InetSocketAddress address, int backlog)
      throws VerbsException {
    CmIdentifier identifier = CmIdentifier.create(device, channel, trafficClass());
    boolean listening = false;
    try {
      identifier.bind(address);
      synchronized (this) {
        // Under the lock, so that the first request finds the listener.
        identifier.listen(backlog);
        var listener = new EngineListener(this, identifier.id(), identifier.localAddress());
        ports.add(identifier.port());
        add(listener);
        listening = true;
        return listener;
      }
    } finally {
      if (!listening) {
        identifier.release();
      }
    }
  }

  @Override
  protected EngineConnection newConnection(InetSocketAddress remote, Duration timeout)
      throws VerbsException {
    CmIdentifier identifier = CmIdentifier.create(device, channel, trafficClass());
    return IbverbsConnection.resolving(device, this, identifier, remote, timeout);
  }

  /** The owner's turn ends with the null that it gets when the limit is reached. */
  @Override
  protected void takeEvents() {
    endRequests();
    synchronized (this) {
      int before = taken;
      taken += takeEvents(EVENTS_PER_TURN - before);
      if (taken == before) {
        taken = 0;
      }
    }
  }

  @Override
  protected void takeAllEvents() {
    endRequests();
    synchronized (this) {
      takeEvents(Integer.MAX_VALUE);
    }
  }

  /**
   * The request of a connection was not sent. The thread that takes events destroys its queue pair,
   * see {@link org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary}. Any thread.
   */
  void endLater(IbverbsConnection connection) {
    toEnd.add(connection);
    wakeups.wakeup();
  }

  private void endRequests() {
    for (var connection = toEnd.poll(); connection != null; connection = toEnd.poll()) {
      connection.endNow();
    }
  }

  /** Takes at most that many events; returns their number. */
  private int takeEvents(int most) {
    if (most == 0 || isClosed() || Libc.poll(pollfds, DESCRIPTORS, noTime) <= 0) {
      return 0;
    }
    int events = takeAsyncEvents(most);
    while (events < most && takeCmEvent()) {
      events++;
    }
    return events;
  }

  /** Takes one event of librdmacm; returns false when there is none. */
  private boolean takeCmEvent() {
    if (polled(CM) < 0) {
      return false;
    }
    if (cm.getCmEvent(channel, eventPointer) != 0) {
      int errno = SetUpCalls.errno();
      if (!Libc.isNoEvent(errno)) {
        String failure =
            Libraries.message("rdma_get_cm_event", errno, "device=" + device.info().name());
        loseEvents(CM, failure);
      }
      return false;
    }
    long event = Native.getLong(eventPointer);
    CmEvent copy = CmEvent.copy(event);
    // First of all, since destroying the identifier waits for it.
    cm.ackCmEvent(event);
    onEvent(copy);
    return true;
  }

  private int takeAsyncEvents(int most) {
    int ready = Native.getShort(pollfd(DEVICE) + Pollfd.REVENTS);
    if (Libc.isDead(ready)) {
      setPolled(DEVICE, -1);
      offerRemoved();
      return 0;
    }
    try {
      return ready == 0 ? 0 : device.asyncEvents().take(most);
    } catch (VerbsException e) {
      loseEvents(DEVICE, e.getMessage());
      return 0;
    }
  }

  /**
   * Events of a descriptor cannot be taken any more. It may stay readable for ever, so nothing
   * waits for it, and the device counts as lost.
   */
  private void loseEvents(int descriptor, String failure) {
    wakeups.drop(polled(descriptor));
    setPolled(descriptor, -1);
    offerOfDevice(
        ConnectionEvent.Type.DEVICE_DOWN, "events of the device cannot be taken: " + failure);
  }

  private long pollfd(int index) {
    return pollfds + (long) index * Pollfd.SIZE;
  }

  private int polled(int index) {
    return Native.getInt(pollfd(index) + Pollfd.FD);
  }

  /** A negative descriptor is not polled. */
  private void setPolled(int index, int descriptor) {
    Native.putInt(pollfd(index) + Pollfd.FD, descriptor);
    Native.putShort(pollfd(index) + Pollfd.EVENTS, Libc.POLLIN);
  }

  private void offerRemoved() {
    offerOfDevice(
        ConnectionEvent.Type.DEVICE_REMOVED,
        "the device was removed: device=" + device.info().name());
  }

  // Called by the device's events, on any thread that takes them. Of several ports those with a
  // listener count.

  /**
   * The device failed. A listener on all addresses has port 0, and counts for each.
   *
   * @param port that is down; 0 is the whole device
   */
  void onDeviceFailure(String reason, int port) {
    if (port == 0 || ports.isEmpty() || ports.contains(0) || ports.contains(port)) {
      offerOfDevice(ConnectionEvent.Type.DEVICE_DOWN, reason);
    }
  }

  private void onEvent(CmEvent event) {
    if (event.type() == CmEvent.CONNECT_REQUEST) {
      onRequest(event);
      return;
    }
    if (listener(event.id()) != null) {
      onListenerEvent(event);
      return;
    }
    if (connection(event.id()) instanceof IbverbsConnection connection) {
      connection.onEvent(event);
    }
  }

  private void onListenerEvent(CmEvent event) {
    if (event.type() == CmEvent.DEVICE_REMOVAL) {
      offerRemoved();
    } else if (event.type() == CmEvent.ADDR_CHANGE) {
      offerOfDevice(
          ConnectionEvent.Type.DEVICE_DOWN,
          "the listener's address moved to another link: device=" + device.info().name());
    }
  }

  private void onRequest(CmEvent event) {
    EngineListener listener = listener(event.listenId());
    var identifier = new CmIdentifier(device, event.id());
    if (listener == null || identifier.otherDevice() != null) {
      identifier.reject(NO_DATA);
      identifier.release();
      return;
    }
    IbverbsConnection connection = IbverbsConnection.requested(device, this, identifier, event);
    if (connection.localAddress() == null || connection.remoteAddress() == null) {
      // No peer of this engine connects from such an address.
      connection.reject(NO_DATA);
      connection.close();
      return;
    }
    offerRequest(connection, listener, event.privateData());
  }

  @Override
  protected void destroyListener(Object id) {
    device.destroyIdentifier((Long) id);
  }

  @Override
  protected void stopEvents() {
    device.asyncEvents().forgetDevice(this);
    wakeups.unwatch(fd, device.asyncEvents().fd());
  }

  CmThreads threads() {
    return threads;
  }

  @Override
  protected void destroyChannel() {
    // The channel outlives the identifiers that a call still uses.
    threads.close(() -> cm.destroyEventChannel(channel));
    arena.close();
  }
}
