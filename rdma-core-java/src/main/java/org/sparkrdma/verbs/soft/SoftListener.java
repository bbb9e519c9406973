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
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.cm.Listener;
import org.sparkrdma.verbs.soft.wire.Link;
import org.sparkrdma.verbs.soft.wire.SelectionHandler;

/**
 * A listening socket in the device thread's selector. The number of sockets that have not yet said
 * who they are is bounded, and so is that of requests that nobody has polled yet.
 */
final class SoftListener implements Listener, SelectionHandler {
  private static final Logger LOG = LoggerFactory.getLogger(SoftListener.class);

  private static final long PAUSE_NS = 100_000_000;

  private final SoftDevice device;
  private final SoftConnectionManager manager;
  private final ServerSocketChannel channel;
  private final InetSocketAddress address;
  private final int backlog;
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile boolean closed;

  /** Takes over a bound channel in non-blocking mode. */
  SoftListener(
      SoftDevice device, SoftConnectionManager manager, ServerSocketChannel channel, int backlog)
      throws IOException {
    this.device = device;
    this.manager = manager;
    this.channel = channel;
    this.backlog = backlog;
    address = (InetSocketAddress) channel.getLocalAddress();
  }

  @Override
  public InetSocketAddress address() {
    return address;
  }

  // The device thread's.

  void register() {
    try {
      channel.register(device.thread().selector(), SelectionKey.OP_ACCEPT, this);
    } catch (IOException e) {
      LOG.error("could not listen: address={}", address, e);
    }
  }

  @Override
  public void onSelected() {
    try {
      for (SocketChannel peer = channel.accept(); peer != null; peer = channel.accept()) {
        greet(peer);
      }
    } catch (IOException e) {
      LOG.warn("could not accept, will try again: address={} pauseNs={}", address, PAUSE_NS, e);
      pause();
    }
  }

  /** Out of file descriptors, most likely: the socket would stay ready and keep us busy. */
  private void pause() {
    SelectionKey key = channel.keyFor(device.thread().selector());
    if (key != null && key.isValid()) {
      key.interestOps(0);
      device.thread().schedule(System.nanoTime() + PAUSE_NS, () -> resume(key));
    }
  }

  private static void resume(SelectionKey key) {
    if (key.isValid()) {
      key.interestOps(SelectionKey.OP_ACCEPT);
    }
  }

  private void greet(SocketChannel peer) throws IOException {
    long halfOpen = device.endpoints().stream().filter(Endpoint::isHalfOpen).count();
    if (halfOpen >= device.settings().maxHalfOpen()) {
      peer.close();
      return;
    }
    peer.configureBlocking(false);
    var endpoint = new Endpoint(device, this);
    endpoint.greet(new Link(device.thread().selector(), peer, endpoint));
  }

  /**
   * A peer has said who it is.
   *
   * @throws IOException when there is no room for it, with the reason
   */
  SoftConnection onRequest(Endpoint endpoint, InetSocketAddress local, InetSocketAddress remote)
      throws IOException {
    if (closed) {
      throw new IOException("the listener is closed");
    }
    if (waiting.incrementAndGet() > backlog) {
      waiting.decrementAndGet();
      throw new IOException("too many requests are waiting: backlog=" + backlog);
    }
    return new SoftConnection(device, manager, endpoint, local, remote);
  }

  // The owner's.

  /** One of its requests was polled or dropped. */
  void onTaken() {
    waiting.decrementAndGet();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    device
        .thread()
        .call(
            () -> {
              try {
                channel.close();
              } catch (IOException e) {
                LOG.debug("could not close: address={}", address, e);
              }
            });
    manager.onClosed(this);
  }
}
