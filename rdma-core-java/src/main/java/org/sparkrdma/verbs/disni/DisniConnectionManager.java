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

  private final DisniDevice device;
  private final EventChannel channel;
  private final Watcher watcher;

  /** Takes over the event channel. */
  DisniConnectionManager(DisniDevice device, EngineChannel wakeups, EventChannel channel) {
    super(device, wakeups);
    this.device = device;
    this.channel = channel;
    watcher =
        new Watcher(
            device.threads(),
            "rdma-disni-connections",
            this::watch,
            () -> device.offerDown("events of connections have ended; the log has the cause"));
    boolean started = false;
    try {
      watcher.start();
      started = true;
    } finally {
      if (!started) {
        channel.destroy();
      }
    }
  }

  Watcher watcher() {
    return watcher;
  }

  @Override
  protected EngineListener newListener(InetSocketAddress address, int backlog)
      throws VerbsException {
    RdmaCmId id = createId(address);
    try {
      id.bindAddr(address);
      if (device.isOfAnotherDevice(id)) {
        throw new IOException("the address belongs to another device");
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
    return new DisniConnection(device, this, createId(remote), remote, timeout);
  }

  private RdmaCmId createId(InetSocketAddress address) throws VerbsException {
    if (!(address.getAddress() instanceof Inet4Address)) {
      throw new VerbsException(
          "rdma_create_id",
          "rdma_create_id failed: DiSNI has IPv4 addresses only: address=" + address);
    }
    return Failures.call("rdma_create_id", "", () -> channel.createId(RdmaCm.RDMA_PS_TCP));
  }

  // Called by the watcher.

  private void watch() throws IOException {
    RdmaCmEvent event = channel.getCmEvent(Watcher.TURN_MS);
    if (event == null) {
      return;
    }
    EventType type = EventType.values()[event.getEvent()];
    RdmaCmId id = event.getConnIdPriv();
    if (type == EventType.RDMA_CM_EVENT_CONNECT_REQUEST) {
      onRequest(event.getListenIdPriv(), id);
    } else if (id != null && connection(id) instanceof DisniConnection connection) {
      connection.onEvent(type);
    }
  }

  private synchronized void onRequest(RdmaCmId listenId, RdmaCmId id) {
    EngineListener listener = listenId == null ? null : listener(listenId);
    try {
      if (listener != null && !device.isOfAnotherDevice(id)) {
        offerRequest(DisniConnection.requested(device, this, id), listener, NO_DATA);
        return;
      }
    } catch (IOException | RuntimeException e) {
      // Of this request only: its peer may have ended.
      LOG.warn("Request was not taken", e);
    }
    // The kernel refuses a request whose identifier is destroyed.
    destroy(id);
  }

  // Called by connections and listeners, on any thread.

  void destroy(RdmaCmId id) {
    channel.destroy(id);
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
    channel.destroy();
  }
}
