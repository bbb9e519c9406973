// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.Channel;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.engine.EngineConnection;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineDevice;
import org.sparkrdma.verbs.engine.EngineListener;

/** Connections over TCP sockets of the loopback device. */
final class SoftConnectionManager extends EngineConnectionManager {
  private static final Logger LOG = LoggerFactory.getLogger(SoftConnectionManager.class);

  private final SoftContext context;
  private final SoftChannel channel;

  /** Events of endpoints that were not brought to their connections yet. */
  private final Queue<SoftConnection.Event> events = new ConcurrentLinkedQueue<>();

  SoftConnectionManager(EngineDevice device, SoftContext context, SoftChannel channel) {
    super(device, channel);
    this.context = context;
    this.channel = channel;
    context.loop().add(this);
  }

  @Override
  protected void takeEvents() {
    context.loop().pollEvents();
    synchronized (this) {
      for (var event = events.poll(); event != null; event = events.poll()) {
        event.connection().onEvent(event);
      }
    }
  }

  /** An endpoint has an event; with the lock of the device. */
  void post(SoftConnection.Event event) {
    events.add(event);
    channel.wakeup();
  }

  /** Work of the device has failed, and no more is done. */
  void onDeviceFailed() {
    offerOfDevice(
        ConnectionEvent.Type.DEVICE_DOWN, "the soft device failed; the log has the cause");
  }

  @Override
  protected void destroy() {
    context.loop().remove(this);
  }

  @Override
  protected EngineListener newListener(InetSocketAddress address, int backlog)
      throws VerbsException {
    ServerSocketChannel socket = null;
    try {
      socket = ServerSocketChannel.open();
      socket.configureBlocking(false);
      // The backlog bounds requests; a setting bounds sockets without a first message.
      socket.bind(address, context.settings().maxHalfOpen());
      var listener = new SoftListener(context, this, socket, backlog);
      add(listener);
      context.loop().call(listener::register);
      return listener;
    } catch (IOException | RuntimeException e) {
      closeQuietly(socket, e);
      throw new VerbsException(
          "rdma_listen", "rdma_listen failed: " + e.getMessage() + " address=" + address, e);
    }
  }

  /** Closes a socket that may be null, after a failure. */
  static void closeQuietly(Channel socket, Exception cause) {
    if (socket != null) {
      try {
        socket.close();
      } catch (IOException e) {
        cause.addSuppressed(e);
      }
    }
  }

  @Override
  protected EngineConnection newConnection(InetSocketAddress remote, Duration timeout) {
    return new SoftConnection(context, this, remote, timeout);
  }

  /** Offers a peer's request to the owner. */
  void onRequest(SoftConnection connection, SoftListener listener, byte[] privateData) {
    offerRequest(connection, listener, privateData);
  }

  @Override
  protected void destroyListener(Object id) {
    var socket = (ServerSocketChannel) id;
    context
        .loop()
        .call(
            () -> {
              try {
                socket.close();
              } catch (IOException e) {
                LOG.debug("Could not close a listening socket", e);
              }
            });
  }
}
