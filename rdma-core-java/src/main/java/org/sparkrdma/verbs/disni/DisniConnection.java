// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.engine.EngineConnection;
import org.sparkrdma.verbs.engine.EngineConnectionManager;
import org.sparkrdma.verbs.engine.EngineProtectionDomain;

/**
 * An identifier of DiSNI and its queue pair. Events come on the watcher's thread, failures of the
 * queue pair on any.
 */
final class DisniConnection extends EngineConnection {
  private static final Logger LOG = LoggerFactory.getLogger(DisniConnection.class);

  private final DisniConnectionManager manager;
  private final DisniDevice device;
  private final RdmaCmId id;

  /**
   * Whether the kernel may still bring an answer, upon which its library changes the queue pair.
   */
  private volatile boolean answerPending;

  /**
   * Takes over the identifier.
   *
   * @param resolveTimeout null for a connection that a peer requests
   */
  DisniConnection(
      DisniDevice device,
      DisniConnectionManager manager,
      RdmaCmId id,
      InetSocketAddress remote,
      Duration resolveTimeout) {
    super(manager, remote, resolveTimeout);
    this.device = device;
    this.manager = manager;
    this.id = id;
  }

  /** A connection that a peer requests; takes over the identifier. */
  static DisniConnection requested(DisniDevice device, DisniConnectionManager manager, RdmaCmId id)
      throws IOException {
    var remote = (InetSocketAddress) id.getDestination();
    var connection = new DisniConnection(device, manager, id, remote, null);
    connection.setLocalAddress((InetSocketAddress) id.getSource());
    return connection;
  }

  // Called by the owner.

  @Override
  protected void resolveAddress(InetSocketAddress local, int timeoutMs) throws VerbsException {
    try {
      if (local != null) {
        // DiSNI ignores its own parameter for the source address.
        id.bindAddr(local);
      }
      id.resolveAddr(null, remoteAddress(), timeoutMs);
    } catch (IOException e) {
      throw Failures.of("rdma_resolve_addr", e, "");
    }
  }

  @Override
  protected DisniQueuePair newQueuePair(EngineProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException {
    var attributes = new IbvQPInitAttr();
    attributes.setQp_type(IbvQP.IBV_QPT_RC);
    attributes.setSend_cq(((DisniCompletionQueue) settings.sendQueue()).cq());
    attributes.setRecv_cq(((DisniCompletionQueue) settings.receiveQueue()).cq());
    attributes.cap().setMax_send_wr(settings.sendDepth());
    attributes.cap().setMax_recv_wr(settings.receiveDepth());
    var own = (DisniProtectionDomain) domain;
    return Failures.call(
        "rdma_create_qp",
        settings.toString(),
        () -> new DisniQueuePair(own, this, id.createQP(own.pd(), attributes), settings));
  }

  @Override
  protected void sendRequest(ConnectionParameters parameters) {
    answerPending = true;
    try {
      id.connect(convert(parameters));
    } catch (IOException e) {
      // DiSNI gives no errno: with iWARP, this can also mean that the peer refused.
      answerPending = false;
      end(
          ConnectionEvent.Type.CONNECT_ERROR,
          Failures.message("rdma_connect", e, "remote=" + remoteAddress()));
    }
  }

  @Override
  protected void sendReply(ConnectionParameters parameters) throws VerbsException {
    answerPending = true;
    try {
      id.accept(convert(parameters));
    } catch (IOException e) {
      answerPending = false;
      throw Failures.of("rdma_accept", e, "remote=" + remoteAddress());
    }
  }

  /** DiSNI cannot set the depth of READs nor the ACK time-out. */
  private static RdmaConnParam convert(ConnectionParameters parameters) throws IOException {
    var converted = new RdmaConnParam();
    converted.setRetry_count((byte) parameters.retryCount());
    converted.setRnr_retry_count((byte) parameters.receiverNotReadyRetryCount());
    return converted;
  }

  /** Sends nothing: the kernel rejects a request when the close that follows destroys its id. */
  @Override
  protected void sendRejection(byte[] privateData) {}

  @Override
  protected void disconnectIdentifier() {
    try {
      id.disconnect();
    } catch (IOException e) {
      LOG.debug("{}", Failures.message("rdma_disconnect", e, "remote=" + remoteAddress()));
    }
  }

  @Override
  protected Object id() {
    return id;
  }

  @Override
  protected void destroyIdentifier() {
    manager.destroy(id);
  }

  /** Waits while the watcher takes an answer: no lock of this class keeps the library from it. */
  @Override
  protected void runDestruction(Runnable destruction) {
    if (answerPending) {
      manager.watcher().runBetweenTurns(destruction);
    } else {
      destruction.run();
    }
  }

  @Override
  protected void destroyQueuePair() {
    Failures.release("rdma_destroy_qp", id::destroyQP);
  }

  // Called by the watcher.

  /** The kernel reports an event. */
  synchronized void onEvent(EventType type) {
    if (type.compareTo(EventType.RDMA_CM_EVENT_DEVICE_REMOVAL) < 0) {
      // An answer, or an event before the request.
      answerPending = false;
    }
    switch (type) {
      case RDMA_CM_EVENT_ADDR_RESOLVED -> onAddressResolved();
      case RDMA_CM_EVENT_ROUTE_RESOLVED -> onRouteResolved();
      case RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR -> onResolveFailed("event=" + type);
      case RDMA_CM_EVENT_ESTABLISHED -> onEstablished(EngineConnectionManager.NO_DATA);
      case RDMA_CM_EVENT_REJECTED ->
          onFailed(ConnectionEvent.Type.REJECTED, "rejected by the peer or its host");
      case RDMA_CM_EVENT_UNREACHABLE -> onFailed(ConnectionEvent.Type.UNREACHABLE, "no answer");
      case RDMA_CM_EVENT_CONNECT_ERROR ->
          onFailed(ConnectionEvent.Type.CONNECT_ERROR, "connecting failed");
      case RDMA_CM_EVENT_DISCONNECTED -> endIfEstablished("the peer or its host disconnected");
      case RDMA_CM_EVENT_DEVICE_REMOVAL -> onDeviceRemoved();
      default -> {
        // Events of multicast, moved addresses, and identifiers that may be used again.
      }
    }
  }

  private void onFailed(ConnectionEvent.Type type, String reason) {
    onFailed(type, EngineConnectionManager.NO_DATA, reason);
  }

  @Override
  protected String otherDevice() throws VerbsException {
    // DiSNI does not know the name.
    return Failures.call(
        "rdma_resolve_route", "", () -> device.isOfAnotherDevice(id) ? "unknown" : null);
  }

  @Override
  protected void resolveRoute(int timeoutMs) throws VerbsException {
    try {
      id.resolveRoute(timeoutMs);
    } catch (IOException e) {
      throw Failures.of("rdma_resolve_route", e, "");
    }
  }

  @Override
  protected InetSocketAddress sourceAddress() throws VerbsException {
    return Failures.call("rdma_get_local_addr", "", () -> (InetSocketAddress) id.getSource());
  }
}
