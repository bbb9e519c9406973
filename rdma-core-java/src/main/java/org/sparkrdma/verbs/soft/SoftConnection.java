// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.time.Duration;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.engine.EngineConnection;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;

/**
 * The owner's end of a connection: hands its commands to the {@link SoftEndpoint}, whose events the
 * manager brings when it is polled. No lock of this class is taken with the lock of the device.
 */
final class SoftConnection extends EngineConnection {
  private final SoftDevice device;
  private final SoftConnectionManager manager;
  private final SoftEndpoint endpoint;
  private InetSocketAddress source;

  /** An outgoing connection. */
  SoftConnection(
      SoftDevice device,
      SoftConnectionManager manager,
      InetSocketAddress remote,
      Duration timeout) {
    super(manager, remote, timeout);
    this.device = device;
    this.manager = manager;
    endpoint = new SoftEndpoint(device, null, this);
  }

  /** A connection that a peer asks for. */
  SoftConnection(
      SoftDevice device,
      SoftConnectionManager manager,
      SoftEndpoint endpoint,
      InetSocketAddress local,
      InetSocketAddress remote) {
    super(manager, remote, null);
    this.device = device;
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
  protected SoftQueuePair newQueuePair(EngineProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException {
    return ((SoftProtectionDomain) domain).createQueuePair(this, settings);
  }

  private SoftQueuePair pair() {
    return (SoftQueuePair) queuePair();
  }

  @Override
  protected void sendRequest(ConnectionParameters parameters) {
    if (device.faults.fires(FaultPlan.Kind.REFUSE_CONNECT)) {
      end(ConnectionEvent.Type.REJECTED, "rejected by the fault plan");
      return;
    }
    boolean hangs = device.faults.fires(FaultPlan.Kind.HANG_CONNECT);
    device.loop.call(
        () -> endpoint.connect(pair(), localAddress(), remoteAddress(), hangs, parameters));
  }

  @Override
  protected void sendReply(ConnectionParameters parameters) {
    // Before the peer can send.
    pair().tryMarkReady();
    device.loop.call(() -> endpoint.accept(pair(), parameters));
  }

  @Override
  protected void sendRejection(byte[] privateData) {
    device.loop.call(() -> endpoint.reject(privateData));
  }

  @Override
  protected void breakQueuePair() {
    device.loop.call(pair()::fail);
  }

  @Override
  protected void disconnectIdentifier() {
    destroyIdentifier();
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
    device.loop.call(endpoint::close);
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

  /** Keeps an event of the endpoint for the owner. */
  void post(ConnectionEvent.Type type, byte[] privateData, String reason) {
    manager.post(new Event(this, type, privateData, reason));
  }
}
