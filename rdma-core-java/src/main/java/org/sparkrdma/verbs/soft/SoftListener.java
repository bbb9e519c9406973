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
import org.sparkrdma.verbs.soft.wire.Link;
import org.sparkrdma.verbs.soft.wire.SelectionHandler;

/**
 * A listening socket in the selector of the device. Both the sockets whose first message has not
 * arrived and the requests that the owner has not polled are bounded in number.
 */
final class SoftListener extends EngineListener implements SelectionHandler {
  private static final Logger LOG = LoggerFactory.getLogger(SoftListener.class);

  private static final long PAUSE_NS = 100_000_000;

  private final SoftContext context;
  private final SoftConnectionManager manager;
  private final ServerSocketChannel channel;
  private final int backlog;
  private final AtomicInteger waiting = new AtomicInteger();

  /** Takes over a bound channel in non-blocking mode. */
  SoftListener(
      SoftContext context, SoftConnectionManager manager, ServerSocketChannel channel, int backlog)
      throws IOException {
    super(manager, channel, (InetSocketAddress) channel.getLocalAddress());
    this.context = context;
    this.manager = manager;
    this.channel = channel;
    this.backlog = backlog;
  }

  // Called with the lock of the device.

  void register() {
    try {
      channel.register(context.loop().selector(), SelectionKey.OP_ACCEPT, this);
    } catch (IOException e) {
      LOG.error("Could not listen: address={}", address(), e);
    }
  }

  @Override
  public void onSelected() {
    if (!channel.isOpen()) {
      return;
    }
    try {
      for (SocketChannel peer = channel.accept(); peer != null; peer = channel.accept()) {
        awaitHello(peer);
      }
    } catch (IOException e) {
      LOG.warn("Could not accept, will try again: address={} pauseNs={}", address(), PAUSE_NS, e);
      pause();
    }
  }

  /** Stops accepting for a while. Without file descriptors the socket would stay ready for ever. */
  private void pause() {
    SelectionKey key = channel.keyFor(context.loop().selector());
    if (key != null && key.isValid()) {
      key.interestOps(0);
      context.loop().schedule(System.nanoTime() + PAUSE_NS, () -> resume(key));
    }
  }

  private static void resume(SelectionKey key) {
    if (key.isValid()) {
      key.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  private void awaitHello(SocketChannel peer) throws IOException {
    if (context.peers().halfOpenCount() >= context.settings().maxHalfOpen()) {
      peer.close();
      return;
    }
    peer.configureBlocking(false);
    var endpoint = SoftEndpoint.acceptor(context, this);
    endpoint.awaitHello(new Link(context.loop().selector(), peer, endpoint));
  }

  /**
   * A peer's connection request was checked.
   *
   * @throws IOException with the reason, when it is refused
   */
  SoftConnection onRequest(SoftEndpoint endpoint, InetSocketAddress local, InetSocketAddress remote)
      throws IOException {
    if (isClosed()) {
      throw new IOException("the listener is closed");
    }
    if (waiting.incrementAndGet() > backlog) {
      waiting.decrementAndGet();
      throw new IOException("too many requests are waiting: backlog=" + backlog);
    }
    return new SoftConnection(context, manager, endpoint, local, remote);
  }

  // Called by the owner.

  @Override
  protected void onRequestPolled() {
    waiting.decrementAndGet();
  }
}
