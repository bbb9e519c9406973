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
import java.nio.channels.SocketChannel;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.engine.LimitChecks;
import org.sparkrdma.verbs.soft.faults.FaultPlan;
import org.sparkrdma.verbs.soft.wire.Hello;
import org.sparkrdma.verbs.soft.wire.Link;

/**
 * The application's end of a connection: checks what the owner asks for, hands it to the {@link
 * Endpoint} on the device thread, and turns what comes of it into events.
 */
final class SoftConnection implements Connection {
  private enum Phase {
    RESOLVING,
    RESOLVED,
    CONNECTING,
    REQUESTED,
    ANSWERED,
    ESTABLISHED,
    ENDED,
    CLOSED
  }

  private final SoftDevice device;
  private final SoftConnectionManager manager;
  private final Endpoint endpoint;
  private final InetSocketAddress remoteAddress;
  private volatile InetSocketAddress localAddress;
  private volatile Phase phase;
  private volatile SoftQueuePair queuePair;
  private Object attachment;

  /** One that this side asks for. */
  SoftConnection(
      SoftDevice device,
      SoftConnectionManager manager,
      InetSocketAddress remote,
      InetSocketAddress local) {
    this.device = device;
    this.manager = manager;
    remoteAddress = remote;
    localAddress = local;
    endpoint = new Endpoint(device, this);
    phase = Phase.RESOLVING;
  }

  /** One that a peer asks for. */
  SoftConnection(
      SoftDevice device,
      SoftConnectionManager manager,
      Endpoint endpoint,
      InetSocketAddress local,
      InetSocketAddress remote) {
    this.device = device;
    this.manager = manager;
    this.endpoint = endpoint;
    remoteAddress = remote;
    localAddress = local;
    phase = Phase.REQUESTED;
  }

  // The owner's.

  @Override
  public InetSocketAddress localAddress() {
    return phase == Phase.RESOLVING ? null : localAddress;
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return remoteAddress;
  }

  @Override
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException {
    if (queuePair != null || (phase != Phase.RESOLVED && phase != Phase.REQUESTED)) {
      throw new IllegalStateException("no queue pair can be made now: phase=" + phase);
    }
    LimitChecks.checkQueuePair(settings, device.info().limits());
    if (!(domain instanceof SoftProtectionDomain mine)
        || mine.device() != device
        || !(settings.sendQueue() instanceof SoftCompletionQueue sends)
        || sends.device() != device
        || !(settings.receiveQueue() instanceof SoftCompletionQueue receives)
        || receives.device() != device) {
      throw new IllegalArgumentException("domain or completion queue of another device");
    }
    queuePair = mine.createQueuePair(settings);
    return queuePair;
  }

  @Override
  public QueuePair queuePair() {
    return queuePair;
  }

  @Override
  public void connect(ConnectionParameters parameters) throws VerbsException {
    require(phase == Phase.RESOLVED && queuePair != null);
    LimitChecks.checkPrivateData(parameters.privateData(), Hello.MAX_PRIVATE_DATA_BYTES);
    phase = Phase.CONNECTING;
    if (device.faults().strikes(FaultPlan.Kind.REFUSE_CONNECT)) {
      onFailed(ConnectionEvent.Type.REJECTED, "the fault plan refused the connection");
      return;
    }
    boolean mute = device.faults().strikes(FaultPlan.Kind.HANG_CONNECT);
    device.thread().execute(() -> begin(parameters, mute));
  }

  private void begin(ConnectionParameters parameters, boolean mute) {
    SocketChannel socket = null;
    try {
      socket = SocketChannel.open();
      socket.configureBlocking(false);
      if (localAddress != null) {
        socket.bind(localAddress);
      }
      boolean connected = !mute && socket.connect(remoteAddress);
      var link = new Link(device.thread().selector(), socket, endpoint);
      endpoint.connect(link, queuePair, parameters);
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
  public void accept(ConnectionParameters parameters) throws VerbsException {
    require(phase == Phase.REQUESTED && queuePair != null);
    LimitChecks.checkPrivateData(parameters.privateData(), Hello.MAX_PRIVATE_DATA_BYTES);
    phase = Phase.ANSWERED;
    queuePair.markReady();
    SoftQueuePair pair = queuePair;
    device.thread().execute(() -> endpoint.accept(pair, parameters));
  }

  @Override
  public void reject(byte[] privateData) {
    require(phase == Phase.REQUESTED);
    LimitChecks.checkPrivateData(privateData, Hello.MAX_PRIVATE_DATA_BYTES);
    phase = Phase.ENDED;
    byte[] copy = privateData.clone();
    device.thread().execute(() -> endpoint.reject(copy));
  }

  private void require(boolean expected) {
    if (!expected) {
      throw new IllegalStateException(
          "not now: phase=" + phase + " queuePair=" + (queuePair != null));
    }
  }

  @Override
  public void disconnect() {
    if (phase == Phase.ESTABLISHED || phase == Phase.ANSWERED) {
      device.thread().execute(() -> endpoint.disconnect("disconnected"));
    }
  }

  @Override
  public Object attachment() {
    return attachment;
  }

  @Override
  public void attach(Object newAttachment) {
    attachment = newAttachment;
  }

  boolean isClosed() {
    return phase == Phase.CLOSED;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (phase == Phase.CLOSED) {
        return;
      }
      phase = Phase.CLOSED;
    }
    if (queuePair != null) {
      queuePair.close();
    }
    device.thread().call(endpoint::close);
    manager.onClosed(this);
  }

  // The device thread's, or of resolving.

  void setLocalAddress(InetSocketAddress address) {
    localAddress = address;
  }

  void onResolved(InetSocketAddress local) {
    localAddress = local;
    move(Phase.RESOLVED);
    manager.offer(ConnectionEvent.Type.RESOLVED, this, "");
  }

  /** Offers a peer's request to the owner. */
  void offerRequest(SoftListener listener, byte[] privateData) {
    manager.add(this);
    manager.offer(
        new ConnectionEvent(ConnectionEvent.Type.CONNECT_REQUEST, this, listener, privateData, ""));
  }

  void onEstablished(byte[] privateData) {
    move(Phase.ESTABLISHED);
    manager.offer(
        new ConnectionEvent(ConnectionEvent.Type.ESTABLISHED, this, null, privateData, ""));
  }

  void onRejected(byte[] privateData, String reason) {
    move(Phase.ENDED);
    manager.offer(
        new ConnectionEvent(ConnectionEvent.Type.REJECTED, this, null, privateData, reason));
  }

  void onFailed(ConnectionEvent.Type type, String reason) {
    move(Phase.ENDED);
    manager.offer(type, this, reason);
  }

  void onDisconnected(String reason) {
    move(Phase.ENDED);
    manager.offer(ConnectionEvent.Type.DISCONNECTED, this, reason);
  }

  private synchronized void move(Phase to) {
    if (phase != Phase.CLOSED) {
      phase = to;
    }
  }
}
