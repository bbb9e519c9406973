// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.engine.EngineChannel;
import org.sparkrdma.verbs.engine.EngineConnection;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineListener;

/**
 * An event channel of DiSNI and its identifiers. A watcher takes the events from the kernel and
 * brings each to its connection.
 */
final class DisniConnectionManager extends EngineConnectionManager {
  private static final Logger LOG = LoggerFactory.getLogger(DisniConnectionManager.class);
  private static final EventType[] TYPES = EventType.values();

  private final DisniDevice device;
  private final EventChannel channel;
  private final Watcher watcher;

  private DisniConnectionManager(DisniDevice device, EngineChannel wakeups, EventChannel channel) {
    super(device, wakeups);
    this.device = device;
    this.channel = channel;
    watcher = new Watcher("rdma-disni-connections", this::watch, this::onWatchFailed);
  }

  static DisniConnectionManager create(DisniDevice device, EngineChannel wakeups)
      throws VerbsException {
    try (var acquired = new Acquired()) {
      EventChannel channel = EventChannel.create();
      acquired.add(() -> EventChannel.destroy(channel));
      var manager = new DisniConnectionManager(device, wakeups, channel);
      manager.watcher.start();
      acquired.keep();
      return manager;
    } catch (IOException e) {
      throw Failures.of("rdma_create_event_channel", e, "");
    }
  }

  Watcher watcher() {
    return watcher;
  }

  @Override
  protected EngineListener newListener(InetSocketAddress address, int backlog)
      throws VerbsException {
    checkAddress("rdma_bind_addr", address);
    RdmaCmId id = createId();
    try {
      id.bindAddr(address);
      String other = device.otherDevice(id);
      if (other != null) {
        throw new IOException("the address belongs to another device: device=" + other);
      }
      var listener = new EngineListener(this, id, (InetSocketAddress) id.getSource());
      synchronized (this) {
        // Under the lock, so that the first request finds the listener.
        id.listen(backlog);
        add(listener);
      }
      return listener;
    } catch (IOException e) {
      destroy(id);
      throw Failures.of("rdma_listen", e, "address=" + address);
    }
  }

  @Override
  protected EngineConnection newConnection(InetSocketAddress remote, Duration timeout)
      throws VerbsException {
    checkAddress("rdma_resolve_addr", remote);
    return new DisniConnection(device, this, createId(), remote, timeout);
  }

  private RdmaCmId createId() throws VerbsException {
    try {
      return channel.createId(RdmaCm.RDMA_PS_TCP);
    } catch (IOException e) {
      throw Failures.of("rdma_create_id", e, "");
    }
  }

  private static void checkAddress(String call, InetSocketAddress address) throws VerbsException {
    if (!(address.getAddress() instanceof Inet4Address)) {
      throw new VerbsException(
          call, call + " failed: DiSNI has IPv4 addresses only: address=" + address);
    }
  }

  // Called by the watcher.

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
    if (id != null && connection(id) instanceof DisniConnection connection) {
      try {
        connection.onEvent(type);
      } catch (RuntimeException e) {
        // Of this connection only, which ends at its owner's time-out.
        LOG.error("Event was not handled: event={}", type, e);
      }
    }
  }

  private void onWatchFailed() {
    offerOfDevice(
        ConnectionEvent.Type.DEVICE_DOWN,
        "events of connections have ended; the log has the cause");
  }

  private void onRequest(RdmaCmId listenId, RdmaCmId id) {
    try {
      acceptRequest(listenId, id);
    } catch (IOException | RuntimeException e) {
      // Of this request only: its peer may have ended.
      LOG.warn("Request was not taken", e);
      destroy(id);
    }
  }

  private void acceptRequest(RdmaCmId listenId, RdmaCmId id) throws IOException {
    synchronized (this) {
      EngineListener listener = listenId == null ? null : listener(listenId);
      if (listener == null || device.otherDevice(id) != null) {
        // The kernel refuses a request whose identifier is destroyed.
        destroy(id);
        return;
      }
      DisniConnection connection = DisniConnection.requested(device, this, id);
      offerRequest(connection, listener, NO_DATA);
    }
  }

  // Called by connections and listeners, on any thread.

  /** Destroys an identifier and drops what the kernel still reports of it. */
  void destroy(RdmaCmId id) {
    channel.forget(id);
    try {
      Failures.check("rdma_destroy_id", id.destroyId());
    } catch (IOException e) {
      LOG.error("Identifier was not destroyed", e);
    }
  }

  @Override
  protected void destroyListener(Object id) {
    destroy((RdmaCmId) id);
  }

  @Override
  protected void stopEvents() {
    watcher.close();
  }

  @Override
  protected void destroyChannel() {
    try {
      EventChannel.destroy(channel);
    } catch (IOException e) {
      LOG.error("Event channel was not destroyed", e);
    }
  }
}
