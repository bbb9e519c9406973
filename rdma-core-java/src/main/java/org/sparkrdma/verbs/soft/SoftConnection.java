// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.engine.ConnectionPhase;
import org.sparkrdma.verbs.engine.EngineConnection;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.wire.Link;

/**
 * The owner's end of a connection: hands its commands to the {@link SoftEndpoint} on the device
 * thread, which reports their results.
 */
final class SoftConnection extends EngineConnection<SoftQueuePair> {
  private final SoftContext context;
  private final SoftConnectionManager manager;
  private final SoftEndpoint endpoint;

  private final Object closing = new Object();

  /** An outgoing connection. */
  SoftConnection(SoftContext context, SoftConnectionManager manager, InetSocketAddress remote) {
    super(manager, remote, true);
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
    super(manager, remote, false);
    this.context = context;
    this.manager = manager;
    this.endpoint = endpoint;
    setLocalAddress(local);
  }

  // Called by the owner.

  @Override
  public int requestQueuePairNumber() {
    return endpoint.requestQueuePairNumber();
  }

  @Override
  protected SoftQueuePair newQueuePair(EngineProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException {
    return ((SoftProtectionDomain) domain).createQueuePair(settings);
  }

  @Override
  protected void sendRequest(ConnectionParameters parameters) {
    if (context.faults().fires(FaultPlan.Kind.REFUSE_CONNECT)) {
      onEnded(ConnectionEvent.Type.REJECTED, "rejected by the fault plan");
      return;
    }
    boolean hangs = context.faults().fires(FaultPlan.Kind.HANG_CONNECT);
    context.loop().execute(() -> openSocket(parameters, hangs));
  }

  private void openSocket(ConnectionParameters parameters, boolean hangs) {
    SocketChannel socket = null;
    endpoint.adopt(queuePair());
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
      closeQuietly(socket, e);
      endpoint.onEnded("could not connect: " + e.getMessage());
    }
  }

  private static void closeQuietly(SocketChannel socket, Exception cause) {
    if (socket != null) {
      try {
        socket.close();
      } catch (IOException e) {
        cause.addSuppressed(e);
      }
    }
  }

  @Override
  protected void sendReply(ConnectionParameters parameters) {
    SoftQueuePair pair = queuePair();
    pair.markReady();
    context.loop().execute(() -> endpoint.accept(pair, parameters));
  }

  @Override
  protected void sendRejection(byte[] privateData) {
    byte[] copy = privateData.clone();
    context.loop().execute(() -> endpoint.reject(copy));
  }

  @Override
  public void disconnect() {
    if (isIn(ConnectionPhase.ESTABLISHED) || isIn(ConnectionPhase.ACCEPTED)) {
      context.loop().execute(() -> endpoint.disconnect("disconnected"));
    }
  }

  /** A second close waits for the end of the first. */
  @Override
  public void close() {
    synchronized (closing) {
      if (!moveTo(ConnectionPhase.CLOSED)) {
        return;
      }
      SoftQueuePair pair = queuePair();
      if (pair != null) {
        pair.close();
      }
      context.loop().call(endpoint::close);
      manager.remove(this, this);
    }
  }

  // Called when the address is resolved, and with the lock of the device.

  void onResolved(InetSocketAddress local) {
    setLocalAddress(local);
    moveTo(ConnectionPhase.RESOLVED);
    offer(ConnectionEvent.Type.RESOLVED, "");
  }

  void onBound(InetSocketAddress local) {
    setLocalAddress(local);
  }

  void onRequested(SoftListener listener, byte[] privateData) {
    manager.offerRequest(this, listener, privateData);
  }

  void onEstablished(byte[] privateData) {
    moveTo(ConnectionPhase.ESTABLISHED);
    offer(ConnectionEvent.Type.ESTABLISHED, privateData, "");
  }

  void onRejected(byte[] privateData, String reason) {
    moveTo(ConnectionPhase.ENDED);
    offer(ConnectionEvent.Type.REJECTED, privateData, reason);
  }

  /** The connection or the attempt ended, for that reason. */
  void onEnded(ConnectionEvent.Type type, String reason) {
    moveTo(ConnectionPhase.ENDED);
    offer(type, reason);
  }
}
