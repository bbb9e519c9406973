// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.time.Duration;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.engine.EngineConnection;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.wire.Link;

/**
 * The owner's end of a connection: hands its commands to the {@link SoftEndpoint}, whose events the
 * manager brings when it is polled. No lock of this class is taken with the lock of the device.
 */
final class SoftConnection extends EngineConnection {
  private final SoftContext context;
  private final SoftConnectionManager manager;
  private final SoftEndpoint endpoint;
  private InetSocketAddress source;

  /** An outgoing connection. */
  SoftConnection(
      SoftContext context,
      SoftConnectionManager manager,
      InetSocketAddress remote,
      Duration timeout) {
    super(manager, remote, timeout);
    this.context = context;
    this.manager = manager;
    endpoint = SoftEndpoint.initiator(context, this);
  }

  /** A connection that a peer asks for. */
  SoftConnection(
      SoftContext context,
      SoftConnectionManager manager,
      SoftEndpoint endpoint,
      InetSocketAddress local,
      InetSocketAddress remote) {
    super(manager, remote, null);
    this.context = context;
    this.manager = manager;
    this.endpoint = endpoint;
    setLocalAddress(local);
  }

  /** An event of the endpoint. */
  record Event(
      SoftConnection connection, ConnectionEvent.Type type, byte[] privateData, String reason) {}

  // Called by the owner.

  @Override
  public int requestQueuePairNumber() {
    return endpoint.requestQueuePairNumber();
  }

  @Override
  protected void resolveAddress(InetSocketAddress local, int timeoutMs) throws VerbsException {
    try {
      source = route(local);
    } catch (IOException | UnsupportedAddressTypeException e) {
      throw new VerbsException("rdma_resolve_addr", String.valueOf(e.getMessage()), e);
    }
    onAddressResolved();
  }

  /** The source address that the kernel would choose. */
  private InetSocketAddress route(InetSocketAddress local) throws IOException {
    try (DatagramChannel probe = DatagramChannel.open()) {
      if (local != null) {
        probe.bind(new InetSocketAddress(local.getAddress(), 0));
      }
      probe.connect(remoteAddress());
      var from = (InetSocketAddress) probe.getLocalAddress();
      return new InetSocketAddress(from.getAddress(), local == null ? 0 : local.getPort());
    }
  }

  @Override
  protected void resolveRoute(int timeoutMs) {
    onRouteResolved();
  }

  @Override
  protected InetSocketAddress sourceAddress() {
    return source;
  }

  @Override
  protected SoftQueuePair newQueuePair(
      EngineProtectionDomain domain, int name, QueuePairSettings settings) throws VerbsException {
    return ((SoftProtectionDomain) domain).createQueuePair(this, name, settings);
  }

  private SoftQueuePair pair() {
    return (SoftQueuePair) queuePair();
  }

  @Override
  protected void sendRequest(ConnectionParameters parameters) {
    if (context.faults().fires(FaultPlan.Kind.REFUSE_CONNECT)) {
      end(ConnectionEvent.Type.REJECTED, "rejected by the fault plan");
      return;
    }
    boolean hangs = context.faults().fires(FaultPlan.Kind.HANG_CONNECT);
    context.loop().execute(() -> openSocket(parameters, hangs));
  }

  private void openSocket(ConnectionParameters parameters, boolean hangs) {
    SocketChannel socket = null;
    endpoint.adopt(pair());
    try {
      socket = SocketChannel.open();
      socket.configureBlocking(false);
      if (localAddress() != null) {
        socket.bind(localAddress());
      }
      boolean connected = !hangs && socket.connect(remoteAddress());
      var link = new Link(context.loop().selector(), socket, endpoint);
      endpoint.connect(link, parameters);
      if (connected) {
        endpoint.onConnected();
      }
    } catch (IOException | RuntimeException e) {
      SoftConnectionManager.closeQuietly(socket, e);
      endpoint.onEnded("could not connect: " + e.getMessage());
    }
  }

  @Override
  protected void sendReply(ConnectionParameters parameters) {
    // Before the peer can send.
    pair().tryMarkReady();
    context.loop().execute(() -> endpoint.accept(pair(), parameters));
  }

  @Override
  protected void sendRejection(byte[] privateData) {
    byte[] copy = privateData.clone();
    context.loop().execute(() -> endpoint.reject(copy));
  }

  @Override
  protected void breakQueuePair() {
    context.loop().call(pair()::fail);
  }

  @Override
  protected void disconnectIdentifier() {
    context.loop().execute(endpoint::disconnect);
  }

  @Override
  protected Object id() {
    return this;
  }

  @Override
  protected void destroyQueuePair() {
    pair().destroy();
  }

  @Override
  protected void destroyIdentifier() {
    context.loop().call(endpoint::close);
  }

  /** The manager brings an event of the endpoint. */
  synchronized void onEvent(Event event) {
    switch (event.type()) {
      case ESTABLISHED -> onEstablished(event.privateData());
      case DISCONNECTED -> endIfEstablished(event.reason());
      default -> onFailed(event.type(), event.privateData(), event.reason());
    }
  }

  // Called with the lock of the device.

  void onBound(InetSocketAddress local) {
    setLocalAddress(local);
  }

  void onRequested(SoftListener listener, byte[] privateData) {
    manager.onRequest(this, listener, privateData);
  }

  /** Keeps an event of the endpoint for the owner. */
  void post(ConnectionEvent.Type type, byte[] privateData, String reason) {
    manager.post(new Event(this, type, privateData, reason));
  }
}
