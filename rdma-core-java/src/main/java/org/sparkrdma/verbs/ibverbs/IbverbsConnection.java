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
package org.sparkrdma.verbs.ibverbs;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.engine.LimitChecks;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;

/**
 * An identifier of the kernel's connection manager and its queue pair.
 *
 * <p>When it ends, by whomever, it is ended here first: the queue pair is broken, the kernel told,
 * and the event offered at once, since not every kernel's event comes. Its lock guards the
 * identifier; events of the kernel and failures of the queue pair come on other threads than the
 * owner's.
 */
final class IbverbsConnection implements Connection {
  private static final int ETIMEDOUT = 110;
  private static final int ECONNREFUSED = 111;
  private static final int EHOSTUNREACH = 113;
  private static final int ENETUNREACH = 101;

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

  private final IbverbsConnectionManager manager;
  private final IbverbsDevice device;
  private final CmIdentifier identifier;
  private final InetSocketAddress remoteAddress;
  private final int resolveTimeoutMs;
  private final int peerReads;
  private final int peerBearsReads;
  private volatile InetSocketAddress localAddress;
  private volatile Phase phase;
  private volatile IbverbsQueuePair queuePair;
  private volatile long deadlineNs;
  private Object attachment;

  private IbverbsConnection(
      IbverbsConnectionManager manager,
      CmIdentifier identifier,
      InetSocketAddress remote,
      int resolveTimeoutMs,
      int peerReads,
      int peerBearsReads,
      Phase phase) {
    this.manager = manager;
    this.identifier = identifier;
    this.remoteAddress = remote;
    this.resolveTimeoutMs = resolveTimeoutMs;
    this.peerReads = peerReads;
    this.peerBearsReads = peerBearsReads;
    this.phase = phase;
    device = manager.device();
  }

  /** One that this side asks for; takes over the identifier. */
  static IbverbsConnection resolving(
      IbverbsConnectionManager manager, long id, InetSocketAddress remote, Duration timeout) {
    int timeoutMs = (int) Math.max(1, Math.min(Integer.MAX_VALUE, timeout.toMillis()));
    int most = manager.device().info().limits().maxReadsInFlight();
    var identifier = new CmIdentifier(manager.device(), id);
    return new IbverbsConnection(
        manager, identifier, remote, timeoutMs, most, most, Phase.RESOLVING);
  }

  /** One that a peer asks for; takes over the identifier. */
  static IbverbsConnection requested(IbverbsConnectionManager manager, CmEvent request) {
    var identifier = new CmIdentifier(manager.device(), request.id());
    var connection =
        new IbverbsConnection(
            manager,
            identifier,
            identifier.remoteAddress(),
            0,
            request.responderResources(),
            request.initiatorDepth(),
            Phase.REQUESTED);
    connection.localAddress = identifier.localAddress();
    return connection;
  }

  // The owner's.

  @Override
  public InetSocketAddress localAddress() {
    return localAddress;
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return remoteAddress;
  }

  /** Begins to resolve the address; the route comes next, on the event. */
  synchronized void resolve(InetSocketAddress local) {
    try {
      identifier.resolveAddress(local, remoteAddress, resolveTimeoutMs);
    } catch (VerbsException e) {
      resolveFailed(e.getMessage());
    }
  }

  private void resolveFailed(String reason) {
    phase = Phase.ENDED;
    manager.offer(ConnectionEvent.Type.RESOLVE_FAILED, this, "no way to the address: " + reason);
  }

  @Override
  public synchronized QueuePair createQueuePair(ProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException {
    if (queuePair != null || (phase != Phase.RESOLVED && phase != Phase.REQUESTED)) {
      throw new IllegalStateException("no queue pair can be made now: phase=" + phase);
    }
    LimitChecks.checkQueuePair(settings, device.info().limits());
    if (!(domain instanceof IbverbsProtectionDomain mine)
        || mine.device() != device
        || !(settings.sendQueue() instanceof IbverbsCompletionQueue sends)
        || sends.device() != device
        || !(settings.receiveQueue() instanceof IbverbsCompletionQueue receives)
        || receives.device() != device) {
      throw new IllegalArgumentException("domain or completion queue of another device");
    }
    int name = device.queuePairs().take();
    if (name == -1) {
      throw new VerbsException("rdma_create_qp", "rdma_create_qp failed: too many queue pairs");
    }
    long qp;
    try {
      qp = identifier.createQueuePair(mine.pd(), sends.cq(), receives.cq(), settings);
    } catch (VerbsException e) {
      device.queuePairs().giveBack(name);
      throw e;
    }
    var made = new IbverbsQueuePair(mine, this, name, qp, settings);
    queuePair = made;
    mine.add(made);
    return made;
  }

  @Override
  public QueuePair queuePair() {
    return queuePair;
  }

  @Override
  public synchronized void connect(ConnectionParameters parameters) throws VerbsException {
    require(phase == Phase.RESOLVED && queuePair != null);
    LimitChecks.checkPrivateData(parameters.privateData(), DeviceFacts.MAX_PRIVATE_DATA_BYTES);
    phase = Phase.CONNECTING;
    deadlineNs = System.nanoTime() + parameters.timeout().toNanos();
    manager.addAttempt(this);
    identifier.setAckTimeout(parameters);
    try {
      identifier.connect(parameters, peerReads, peerBearsReads);
    } catch (VerbsException e) {
      switch (e.errno()) {
        case ECONNREFUSED -> end(ConnectionEvent.Type.REJECTED, e.getMessage());
        case ETIMEDOUT, EHOSTUNREACH, ENETUNREACH ->
            end(ConnectionEvent.Type.UNREACHABLE, e.getMessage());
        default -> {
          manager.removeAttempt(this);
          phase = Phase.ENDED;
          throw e;
        }
      }
    }
  }

  @Override
  public synchronized void accept(ConnectionParameters parameters) throws VerbsException {
    require(phase == Phase.REQUESTED && queuePair != null);
    LimitChecks.checkPrivateData(parameters.privateData(), DeviceFacts.MAX_PRIVATE_DATA_BYTES);
    phase = Phase.ANSWERED;
    identifier.setAckTimeout(parameters);
    try {
      identifier.accept(parameters, peerReads, peerBearsReads);
    } catch (VerbsException e) {
      phase = Phase.ENDED;
      throw e;
    }
    queuePair.markReady();
  }

  @Override
  public synchronized void reject(byte[] privateData) {
    require(phase == Phase.REQUESTED);
    LimitChecks.checkPrivateData(privateData, DeviceFacts.MAX_PRIVATE_DATA_BYTES);
    phase = Phase.ENDED;
    identifier.reject(privateData);
  }

  private void require(boolean expected) {
    if (!expected) {
      throw new IllegalStateException(
          "not now: phase=" + phase + " queuePair=" + (queuePair != null));
    }
  }

  @Override
  public synchronized void disconnect() {
    endIfMade("disconnected");
  }

  /** Ends it when it was made or accepted, with the event that belongs to that. */
  private void endIfMade(String reason) {
    if (phase == Phase.ESTABLISHED) {
      end(ConnectionEvent.Type.DISCONNECTED, reason);
    } else if (phase == Phase.ANSWERED) {
      end(ConnectionEvent.Type.CONNECT_ERROR, reason);
    }
  }

  private void end(ConnectionEvent.Type type, String reason) {
    end(type, new byte[0], reason);
  }

  private void end(ConnectionEvent.Type type, byte[] privateData, String reason) {
    boolean made = phase == Phase.ESTABLISHED || phase == Phase.ANSWERED;
    phase = Phase.ENDED;
    manager.removeAttempt(this);
    if (queuePair != null) {
      queuePair.markBroken();
    }
    if (identifier.hasQueuePair()) {
      queuePair.breakOnDevice();
    }
    if (made) {
      // Not of an attempt: there the kernel would wait for its outcome first.
      identifier.disconnect();
    }
    manager.offer(new ConnectionEvent(type, this, null, privateData, reason));
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
    IbverbsQueuePair pair = queuePair;
    if (pair != null) {
      pair.close();
    }
    synchronized (this) {
      if (phase == Phase.CLOSED) {
        return;
      }
      phase = Phase.CLOSED;
      manager.onClosed(this, identifier.id());
      identifier.destroy();
    }
  }

  // Of the queue pair, on any thread.

  synchronized void onQueuePairBroken(String reason) {
    endIfMade(reason);
  }

  /** Ends the connection and destroys the device's queue pair. */
  synchronized void onQueuePairClosed() {
    endIfMade("queue pair closed");
    identifier.destroyQueuePair();
  }

  // Of the connection manager.

  long deadlineNs() {
    return deadlineNs;
  }

  synchronized void giveUpWhenLate(long nowNs) {
    if (phase == Phase.CONNECTING && nowNs - deadlineNs >= 0) {
      end(ConnectionEvent.Type.UNREACHABLE, "no answer in time");
    }
  }

  /** The kernel reports something; whoever took the event. */
  synchronized void onEvent(CmEvent event) {
    switch (event.type()) {
      case CmEvent.ADDR_RESOLVED -> onAddressResolved();
      case CmEvent.ROUTE_RESOLVED -> onRouteResolved();
      case CmEvent.ADDR_ERROR, CmEvent.ROUTE_ERROR -> {
        if (phase == Phase.RESOLVING) {
          resolveFailed(Libc.strerror(-event.status()));
        }
      }
      case CmEvent.ESTABLISHED -> onEstablished(event.privateData());
      case CmEvent.REJECTED ->
          onFailed(ConnectionEvent.Type.REJECTED, event, device.rules().rejection(event.status()));
      case CmEvent.UNREACHABLE ->
          onFailed(ConnectionEvent.Type.UNREACHABLE, event, "no answer: status=" + event.status());
      case CmEvent.CONNECT_ERROR ->
          onFailed(
              ConnectionEvent.Type.CONNECT_ERROR,
              event,
              "connecting failed: status=" + event.status());
      case CmEvent.DISCONNECTED -> endIfMade("the peer, or its host, disconnected");
      case CmEvent.DEVICE_REMOVAL -> {
        if (phase != Phase.CLOSED) {
          end(
              ConnectionEvent.Type.DEVICE_REMOVED,
              "the device is gone: device=" + device.info().name());
        }
      }
      default -> {
        // Of multicast, addresses that moved, and identifiers that may be used again.
      }
    }
  }

  private void onAddressResolved() {
    if (phase != Phase.RESOLVING) {
      return;
    }
    String other = manager.otherDevice(identifier.id());
    if (other != null) {
      resolveFailed(
          "it goes through another device: device=" + other + " wanted=" + device.info().name());
      return;
    }
    try {
      identifier.resolveRoute(resolveTimeoutMs);
    } catch (VerbsException e) {
      resolveFailed(e.getMessage());
    }
  }

  private void onRouteResolved() {
    if (phase == Phase.RESOLVING) {
      localAddress = identifier.localAddress();
      phase = Phase.RESOLVED;
      manager.offer(ConnectionEvent.Type.RESOLVED, this, "");
    }
  }

  private void onEstablished(byte[] privateData) {
    if (phase == Phase.ENDED) {
      // Given up in the meantime; the peer is to know.
      identifier.disconnect();
    }
    if (phase != Phase.CONNECTING && phase != Phase.ANSWERED) {
      return;
    }
    manager.removeAttempt(this);
    try {
      queuePair.markReady();
    } catch (VerbsException e) {
      end(ConnectionEvent.Type.CONNECT_ERROR, e.getMessage());
      return;
    }
    phase = Phase.ESTABLISHED;
    manager.offer(
        new ConnectionEvent(ConnectionEvent.Type.ESTABLISHED, this, null, privateData, ""));
  }

  private void onFailed(ConnectionEvent.Type type, CmEvent event, String reason) {
    if (phase == Phase.CONNECTING) {
      end(type, event.privateData(), reason);
    } else if (phase == Phase.ANSWERED) {
      end(ConnectionEvent.Type.CONNECT_ERROR, reason);
    }
  }
}
