// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.engine.ConnectionPhase;
import org.sparkrdma.verbs.engine.EngineConnection;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;

/**
 * An identifier of librdmacm and its queue pair. Events of the kernel and failures of the queue
 * pair come on other threads than the owner's.
 */
final class IbverbsConnection extends EngineConnection {
  private static final int ETIMEDOUT = 110;
  private static final int ECONNREFUSED = 111;
  private static final int EHOSTUNREACH = 113;
  private static final int ENETUNREACH = 101;

  /**
   * The kernel asks for the neighbour, then queues the request (rdma_resolve_ip in
   * drivers/infiniband/core/addr.c). An answer between the two wakes nothing, and the kernel looks
   * again only when the time is over; so the address is resolved in parts.
   */
  private static final int RESOLVE_PART_MS = 250;

  private static final Logger LOG = LoggerFactory.getLogger(IbverbsConnection.class);

  private final IbverbsDevice device;
  private final IbverbsConnectionManager manager;
  private final CmIdentifier identifier;
  private final int peerReads;
  private final int peerMaxReads;
  private int requestQueuePairNumber;
  private InetSocketAddress resolveFrom;
  private long resolveUntilNs;

  /** Whether a call of rdma_connect runs on another thread; guarded by this. */
  private boolean calling;

  /**
   * @param peerReads READs in flight that the peer requests
   * @param peerMaxReads READs in flight that the peer answers
   */
  private IbverbsConnection(
      IbverbsDevice device,
      IbverbsConnectionManager manager,
      CmIdentifier identifier,
      InetSocketAddress remote,
      Duration resolveTimeout,
      int peerReads,
      int peerMaxReads) {
    super(manager, remote, resolveTimeout);
    this.device = device;
    this.manager = manager;
    this.identifier = identifier;
    this.peerReads = peerReads;
    this.peerMaxReads = peerMaxReads;
  }

  /** A connection that this end requests; takes over the identifier. */
  static IbverbsConnection resolving(
      IbverbsDevice device,
      IbverbsConnectionManager manager,
      CmIdentifier identifier,
      InetSocketAddress remote,
      Duration timeout) {
    int maxReads = device.info().limits().maxReadsInFlight();
    return new IbverbsConnection(device, manager, identifier, remote, timeout, maxReads, maxReads);
  }

  /** A connection that a peer requests; takes over the identifier. */
  static IbverbsConnection requested(
      IbverbsDevice device,
      IbverbsConnectionManager manager,
      CmIdentifier identifier,
      CmEvent request) {
    var connection =
        new IbverbsConnection(
            device,
            manager,
            identifier,
            identifier.remoteAddress(),
            null,
            request.responderResources(),
            request.initiatorDepth());
    connection.setLocalAddress(identifier.localAddress());
    if (device.info().can(Capability.REQUEST_HAS_QUEUE_PAIR)) {
      connection.requestQueuePairNumber = request.queuePairNumber();
    }
    return connection;
  }

  // Called by the owner.

  @Override
  protected void resolveAddress(InetSocketAddress local, int timeoutMs) throws VerbsException {
    resolveFrom = local;
    resolveUntilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    resolvePart();
  }

  private void resolvePart() throws VerbsException {
    long leftMs = TimeUnit.NANOSECONDS.toMillis(resolveUntilNs - System.nanoTime());
    int partMs = (int) Math.max(1, Math.min(leftMs, RESOLVE_PART_MS));
    identifier.resolveAddress(resolveFrom, remoteAddress(), partMs);
  }

  private void onAddressError(int status) {
    if (status == -ETIMEDOUT
        && isIn(ConnectionPhase.RESOLVING)
        && resolveUntilNs - System.nanoTime() > 0) {
      try {
        resolvePart();
        return;
      } catch (VerbsException e) {
        LOG.debug("The address cannot be resolved again", e);
      }
    }
    onResolveFailed(Libc.strerror(-status));
  }

  @Override
  public int requestQueuePairNumber() {
    return requestQueuePairNumber;
  }

  @Override
  protected IbverbsQueuePair newQueuePair(EngineProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException {
    var own = (IbverbsProtectionDomain) domain;
    long qp = identifier.createQueuePair(own.pd(), settings);
    return new IbverbsQueuePair(device, own, this, qp, settings);
  }

  @Override
  protected void sendRequest(ConnectionParameters parameters) throws VerbsException {
    identifier.setAckTimeout(parameters);
    if (device.rules().callsMayWait()) {
      requestOnThread(parameters);
      return;
    }
    try {
      identifier.connect(parameters, peerReads, peerMaxReads);
    } catch (VerbsException e) {
      ConnectionEvent.Type type = refusal(e);
      if (type == null) {
        throw e;
      }
      end(type, e.getMessage());
    }
  }

  /** The event for an error of rdma_connect; null for one that is no answer of the network. */
  private static ConnectionEvent.Type refusal(VerbsException error) {
    return switch (error.errno()) {
      case ECONNREFUSED -> ConnectionEvent.Type.REJECTED;
      case ETIMEDOUT, EHOSTUNREACH, ENETUNREACH -> ConnectionEvent.Type.UNREACHABLE;
      default -> null;
    };
  }

  private void requestOnThread(ConnectionParameters parameters) {
    awaitsOutcome = true;
    identifier.retain();
    if (!manager.threads().add(() -> requestNow(parameters))) {
      identifier.release();
      onRequestFailed(
          ConnectionEvent.Type.CONNECT_ERROR, "too many connections are being requested");
    }
  }

  /**
   * Runs on a thread for calls that may wait, without the lock, which the owner must not wait for.
   */
  private void requestNow(ConnectionParameters parameters) {
    try {
      if (beginCall()) {
        try {
          identifier.connect(parameters, peerReads, peerMaxReads);
        } finally {
          endCall();
        }
      } else {
        onRequestFailed(ConnectionEvent.Type.CONNECT_ERROR, "closed before it was requested");
      }
    } catch (VerbsException e) {
      ConnectionEvent.Type type = refusal(e);
      onRequestFailed(type == null ? ConnectionEvent.Type.CONNECT_ERROR : type, e.getMessage());
    } catch (RuntimeException e) {
      onRequestFailed(ConnectionEvent.Type.CONNECT_ERROR, e.toString());
    } finally {
      identifier.release();
    }
  }

  private synchronized boolean beginCall() {
    calling = isIn(ConnectionPhase.CONNECTING);
    return calling;
  }

  private synchronized void endCall() {
    calling = false;
    notifyAll();
  }

  /** There is no outcome, since the request was not sent. */
  private synchronized void onRequestFailed(ConnectionEvent.Type type, String reason) {
    awaitsOutcome = false;
    if (isIn(ConnectionPhase.CONNECTING)) {
      end(type, reason);
    }
    manager.endLater(this);
  }

  /** Destroys what was left until the outcome of a request that was not sent. */
  synchronized void endNow() {
    destroyWhenPossible();
  }

  /** The call uses the queue pair; releases the lock while it waits. */
  @Override
  protected synchronized void awaitCalls() {
    awaitWhile(() -> calling);
  }

  @Override
  protected void sendReply(ConnectionParameters parameters) throws VerbsException {
    identifier.setAckTimeout(parameters);
    identifier.accept(parameters, peerReads, peerMaxReads);
    awaitsOutcome = device.rules().callsMayWait();
  }

  @Override
  protected void sendRejection(byte[] privateData) {
    identifier.reject(privateData);
  }

  @Override
  protected void breakQueuePair() {
    if (identifier.hasQueuePair()) {
      ((IbverbsQueuePair) queuePair()).breakOnDevice();
    }
  }

  @Override
  protected void disconnectIdentifier() {
    identifier.disconnect();
  }

  @Override
  protected Object id() {
    return identifier.id();
  }

  @Override
  protected void destroyQueuePair() {
    identifier.destroyQueuePair();
  }

  @Override
  protected void destroyIdentifier() {
    identifier.release();
  }

  // Called by the connection manager.

  /** The kernel reports an event. */
  synchronized void onEvent(CmEvent event) {
    if (event.isOutcome()) {
      awaitsOutcome = false;
    }
    try {
      takeEvent(event);
    } finally {
      destroyWhenPossible();
    }
  }

  private void takeEvent(CmEvent event) {
    switch (event.type()) {
      case CmEvent.ADDR_RESOLVED -> onAddressResolved();
      case CmEvent.ROUTE_RESOLVED -> onRouteResolved();
      case CmEvent.ADDR_ERROR -> onAddressError(event.status());
      case CmEvent.ROUTE_ERROR -> onResolveFailed(Libc.strerror(-event.status()));
      case CmEvent.ESTABLISHED -> onEstablished(event.privateData());
      case CmEvent.REJECTED ->
          onFailed(rejection(event), event, device.rules().rejection(event.status()));
      case CmEvent.UNREACHABLE ->
          onFailed(ConnectionEvent.Type.UNREACHABLE, event, "no answer: status=" + event.status());
      case CmEvent.CONNECT_ERROR ->
          onFailed(
              ConnectionEvent.Type.CONNECT_ERROR,
              event,
              "connecting failed: status=" + event.status());
      case CmEvent.DISCONNECTED -> endIfEstablished("the peer or its host disconnected");
      case CmEvent.ADDR_CHANGE -> endIfEstablished("the address moved to another link");
      case CmEvent.DEVICE_REMOVAL -> onDeviceRemoved();
      default -> {
        // Events of multicast, and identifiers that may be used again.
      }
    }
  }

  private ConnectionEvent.Type rejection(CmEvent event) {
    return device.rules().isStale(event.status())
        ? ConnectionEvent.Type.REJECTED_AS_STALE
        : ConnectionEvent.Type.REJECTED;
  }

  private void onFailed(ConnectionEvent.Type type, CmEvent event, String reason) {
    onFailed(type, event.privateData(), reason);
  }

  @Override
  protected String otherDevice() {
    return identifier.otherDevice();
  }

  @Override
  protected void resolveRoute(int timeoutMs) {
    identifier.retain();
    if (!manager.threads().add(() -> resolveRouteNow(timeoutMs))) {
      identifier.release();
      onResolveFailed("too many routes are being resolved");
    }
  }

  /** Runs on such a thread, without the lock, which the owner must not wait for. */
  private void resolveRouteNow(int timeoutMs) {
    try {
      if (isIn(ConnectionPhase.RESOLVING)) {
        identifier.resolveRoute(timeoutMs);
      }
    } catch (VerbsException e) {
      onRouteFailed(e.getMessage());
    } catch (RuntimeException e) {
      onRouteFailed(e.toString());
    } finally {
      identifier.release();
    }
  }

  private synchronized void onRouteFailed(String reason) {
    onResolveFailed(reason);
  }

  @Override
  protected InetSocketAddress sourceAddress() {
    return identifier.localAddress();
  }
}
