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
import org.sparkrdma.verbs.engine.EngineConnection;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineListener;

/** Connections over TCP sockets of the loopback device. */
final class SoftConnectionManager extends EngineConnectionManager {
  private static final Logger LOG = LoggerFactory.getLogger(SoftConnectionManager.class);

  private final SoftDevice device;
  private final SoftChannel channel;

  /** Events of endpoints that were not brought to their connections yet. */
  private final Queue<SoftConnection.Event> events = new ConcurrentLinkedQueue<>();

  SoftConnectionManager(SoftDevice device, SoftChannel channel) {
    super(device, channel);
    this.device = device;
    this.channel = channel;
  }

  @Override
  protected void takeEvents() {
    device.loop.poll(false);
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

  @Override
  protected EngineListener newListener(InetSocketAddress address, int backlog)
      throws VerbsException {
    ServerSocketChannel socket = null;
    try {
      socket = ServerSocketChannel.open();
      socket.configureBlocking(false);
      // The backlog bounds requests, and a limit of the listener sockets without a first message.
      socket.bind(address, SoftListener.MAX_HALF_OPEN);
      var listener = new SoftListener(device, this, socket, backlog);
      add(listener);
      device.loop.call(listener::register);
      return listener;
    } catch (IOException | RuntimeException e) {
      if (socket != null) {
        closeQuietly(socket);
      }
      throw new VerbsException(
          "rdma_listen", "rdma_listen failed: " + e.getMessage() + " address=" + address, e);
    }
  }

  static void closeQuietly(Channel socket) {
    try {
      socket.close();
    } catch (IOException e) {
      LOG.debug("Could not close a socket", e);
    }
  }

  @Override
  protected EngineConnection newConnection(InetSocketAddress remote, Duration timeout) {
    return new SoftConnection(device, this, remote, timeout);
  }

  /** Offers a peer's request to the owner. */
  void onRequest(SoftConnection connection, SoftListener listener, byte[] privateData) {
    offerRequest(connection, listener, privateData);
  }

  @Override
  protected void destroyListener(Object id) {
    device.loop.call(() -> closeQuietly((ServerSocketChannel) id));
  }
}
