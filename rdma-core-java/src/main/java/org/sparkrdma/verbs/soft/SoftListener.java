// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.engine.EngineListener;

/**
 * A listening socket in the selector of the device. Both the sockets whose first message has not
 * arrived and the requests that the owner has not polled are bounded in number.
 */
final class SoftListener extends EngineListener {
  private static final Logger LOG = LoggerFactory.getLogger(SoftListener.class);

  /** Maximum number of sockets whose first message has not arrived; further ones are closed. */
  static final int MAX_HALF_OPEN = 256;

  private static final long PAUSE_NS = 100_000_000;

  private final SoftDevice device;
  private final SoftConnectionManager manager;
  private final ServerSocketChannel channel;
  private final int backlog;
  private final AtomicInteger waiting = new AtomicInteger();

  // Guarded by the lock of the device.
  private SelectionKey key;
  private int halfOpen;

  /** Takes over a bound channel in non-blocking mode. */
  SoftListener(
      SoftDevice device, SoftConnectionManager manager, ServerSocketChannel channel, int backlog)
      throws IOException {
    super(manager, channel, (InetSocketAddress) channel.getLocalAddress());
    this.device = device;
    this.manager = manager;
    this.channel = channel;
    this.backlog = backlog;
  }

  // Called with the lock of the device.

  void register() {
    try {
      Runnable handler = this::onSelected;
      key = channel.register(device.loop.selector, SelectionKey.OP_ACCEPT, handler);
    } catch (IOException e) {
      LOG.error("Could not listen: address={}", address(), e);
    }
  }

  private void onSelected() {
    if (!channel.isOpen()) {
      return;
    }
    try {
      for (SocketChannel peer = channel.accept(); peer != null; peer = channel.accept()) {
        awaitHello(peer);
      }
    } catch (IOException e) {
      LOG.warn("Could not accept, will try again: address={} pauseNs={}", address(), PAUSE_NS, e);
      // Without file descriptors the socket would stay ready for ever.
      key.interestOps(0);
      device.loop.schedule(System.nanoTime() + PAUSE_NS, this::resume);
    }
  }

  private void resume() {
    if (key.isValid()) {
      key.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  void awaitHello(SocketChannel peer) {
    if (halfOpen == MAX_HALF_OPEN) {
      SoftConnectionManager.closeQuietly(peer);
      return;
    }
    halfOpen++;
    new SoftEndpoint(device, this, null).awaitHello(peer);
  }

  /** The first message of a socket has arrived, or the socket has ended. */
  void onHalfOpenEnded() {
    halfOpen--;
  }

  /**
   * Offers a peer's connection request, which was checked, to the owner.
   *
   * @throws IOException with the reason, when it is refused
   */
  SoftConnection onRequest(
      SoftEndpoint endpoint, InetSocketAddress local, InetSocketAddress remote, byte[] privateData)
      throws IOException {
    if (isClosed()) {
      throw new IOException("the listener is closed");
    }
    if (waiting.incrementAndGet() > backlog) {
      waiting.decrementAndGet();
      throw new IOException("too many requests are waiting: backlog=" + backlog);
    }
    var connection = new SoftConnection(device, manager, endpoint, local, remote);
    manager.onRequest(connection, this, privateData);
    return connection;
  }

  // Called by the owner.

  @Override
  protected void onRequestPolled() {
    waiting.decrementAndGet();
  }
}
