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
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.engine.LimitChecks;

/**
 * An identifier of the kernel's connection manager and its queue pair.
 *
 * <p>When it ends, by whomever, it is ended here first: the queue pair is broken, the kernel told,
 * and the event offered at once, since not every kernel's event comes. Its lock guards the
 * identifier; events come on the watcher's thread, failures of the queue pair on any.
 */
final class DisniConnection implements Connection {
  private static final Logger LOG = LoggerFactory.getLogger(DisniConnection.class);

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

  private final DisniConnectionManager manager;
  private final DisniDevice device;
  private final RdmaCmId id;
  private final InetSocketAddress remoteAddress;
  private final int resolveTimeoutMs;
  private volatile InetSocketAddress localAddress;
  private volatile Phase phase;
  private volatile DisniQueuePair queuePair;
  private volatile long deadlineNs;

  /** The kernel may yet bring an answer, upon which its library changes the queue pair. */
  private volatile boolean answerPending;

  private Object attachment;

  private DisniConnection(
      DisniConnectionManager manager,
      RdmaCmId id,
      InetSocketAddress remote,
      int resolveTimeoutMs,
      Phase phase) {
    this.manager = manager;
    this.id = id;
    this.remoteAddress = remote;
    this.resolveTimeoutMs = resolveTimeoutMs;
    this.phase = phase;
    device = manager.device();
  }

  /** One that this side asks for; takes over the identifier. */
  static DisniConnection resolving(
      DisniConnectionManager manager, RdmaCmId id, InetSocketAddress remote, Duration timeout) {
    int timeoutMs = (int) Math.max(1, Math.min(Integer.MAX_VALUE, timeout.toMillis()));
    return new DisniConnection(manager, id, remote, timeoutMs, Phase.RESOLVING);
  }

  /** One that a peer asks for; takes over the identifier. */
  static DisniConnection requested(DisniConnectionManager manager, RdmaCmId id) throws IOException {
    var remote = (InetSocketAddress) id.getDestination();
    var connection = new DisniConnection(manager, id, remote, 0, Phase.REQUESTED);
    connection.localAddress = (InetSocketAddress) id.getSource();
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
      if (local != null) {
        // DiSNI's own parameter for it goes nowhere.
        id.bindAddr(local);
      }
      id.resolveAddr(null, remoteAddress, resolveTimeoutMs);
    } catch (IOException e) {
      resolveFailed(Failures.message("rdma_resolve_addr", e, ""));
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
    if (!(domain instanceof DisniProtectionDomain mine)
        || mine.device() != device
        || !(settings.sendQueue() instanceof DisniCompletionQueue sends)
        || sends.device() != device
        || !(settings.receiveQueue() instanceof DisniCompletionQueue receives)
        || receives.device() != device) {
      throw new IllegalArgumentException("domain or completion queue of another device");
    }
    var attributes = new IbvQPInitAttr();
    attributes.setQp_type(IbvQP.IBV_QPT_RC);
    attributes.setSend_cq(sends.cq());
    attributes.setRecv_cq(receives.cq());
    attributes.cap().setMax_send_wr(settings.sendDepth());
    attributes.cap().setMax_recv_wr(settings.receiveDepth());
    try {
      IbvQP qp = id.createQP(mine.pd(), attributes);
      queuePair = register(mine, qp, qp.getQp_num(), settings);
      return queuePair;
    } catch (IOException e) {
      throw Failures.of("rdma_create_qp", e, LimitChecks.sizes(settings));
    }
  }

  private DisniQueuePair register(
      DisniProtectionDomain domain, IbvQP qp, int number, QueuePairSettings settings)
      throws IOException {
    int name = device.queuePairs().take();
    if (name == -1) {
      id.destroyQP();
      throw new IOException("too many queue pairs");
    }
    var made = new DisniQueuePair(domain, this, qp, name, number, settings);
    device.queuePairs().put(made);
    domain.add(made);
    return made;
  }

  @Override
  public QueuePair queuePair() {
    return queuePair;
  }

  @Override
  public synchronized void connect(ConnectionParameters parameters) {
    require(phase == Phase.RESOLVED && queuePair != null);
    LimitChecks.checkPrivateData(parameters.privateData(), maxPrivateDataBytes());
    phase = Phase.CONNECTING;
    deadlineNs = System.nanoTime() + parameters.timeout().toNanos();
    manager.addAttempt(this);
    answerPending = true;
    try {
      id.connect(convert(parameters));
    } catch (IOException e) {
      // DiSNI gives no number: with iWARP, this is also how a peer refuses.
      answerPending = false;
      end(
          ConnectionEvent.Type.CONNECT_ERROR,
          Failures.message("rdma_connect", e, "remote=" + remoteAddress));
    }
  }

  @Override
  public synchronized void accept(ConnectionParameters parameters) throws VerbsException {
    require(phase == Phase.REQUESTED && queuePair != null);
    LimitChecks.checkPrivateData(parameters.privateData(), maxPrivateDataBytes());
    phase = Phase.ANSWERED;
    answerPending = true;
    try {
      id.accept(convert(parameters));
    } catch (IOException e) {
      answerPending = false;
      phase = Phase.ENDED;
      throw Failures.of("rdma_accept", e, "remote=" + remoteAddress);
    }
    queuePair.markReady();
  }

  /** READs in flight and the acknowledge time-out are beyond DiSNI. */
  private static RdmaConnParam convert(ConnectionParameters parameters) throws IOException {
    var converted = new RdmaConnParam();
    converted.setRetry_count((byte) parameters.retryCount());
    converted.setRnr_retry_count((byte) parameters.receiverNotReadyRetryCount());
    return converted;
  }

  /** The kernel refuses a request whose identifier is destroyed, so the close that follows does. */
  @Override
  public synchronized void reject(byte[] privateData) {
    require(phase == Phase.REQUESTED);
    LimitChecks.checkPrivateData(privateData, maxPrivateDataBytes());
    phase = Phase.ENDED;
  }

  private int maxPrivateDataBytes() {
    return device.info().limits().maxPrivateDataBytes();
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
    boolean made = phase == Phase.ESTABLISHED || phase == Phase.ANSWERED;
    phase = Phase.ENDED;
    manager.removeAttempt(this);
    if (queuePair != null) {
      queuePair.markBroken();
    }
    if (made) {
      // Not of an attempt: on iWARP the kernel would wait for its outcome first.
      disconnectId();
    }
    manager.offer(type, this, reason);
  }

  /** Tells the peer, and has the device give back the work; either may be so already. */
  private void disconnectId() {
    try {
      int rc = id.disconnect();
      LOG.debug("rdma_disconnect: rc={} remote={}", rc, remoteAddress);
    } catch (IOException e) {
      LOG.debug("{}", Failures.message("rdma_disconnect", e, "remote=" + remoteAddress));
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
    DisniQueuePair pair = queuePair;
    if (pair != null) {
      pair.close();
    }
    withoutAnswers(this::destroyId);
  }

  private synchronized void destroyId() {
    if (phase != Phase.CLOSED) {
      phase = Phase.CLOSED;
      manager.onClosed(this, id);
    }
  }

  /** Not while the watcher may be at an answer, in a call that nothing else can hold off. */
  private void withoutAnswers(Runnable destruction) {
    if (answerPending) {
      manager.watcher().runBetweenTurns(destruction);
    } else {
      destruction.run();
    }
  }

  // Of the queue pair, on any thread.

  synchronized void onQueuePairBroken(String reason) {
    endIfMade(reason);
  }

  /** Ends the connection and destroys the device's queue pair. */
  void onQueuePairClosed() {
    withoutAnswers(this::destroyQueuePair);
  }

  private synchronized void destroyQueuePair() {
    endIfMade("queue pair closed");
    try {
      Failures.check("rdma_destroy_qp", id.destroyQP());
    } catch (IOException e) {
      LOG.error("queue pair was not destroyed: remote={}", remoteAddress, e);
    }
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

  /** The kernel reports something, on the watcher's thread. */
  synchronized void onEvent(EventType type) {
    switch (type) {
      case RDMA_CM_EVENT_ADDR_RESOLVED -> onAddressResolved();
      case RDMA_CM_EVENT_ROUTE_RESOLVED -> onRouteResolved();
      case RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR -> {
        if (phase == Phase.RESOLVING) {
          resolveFailed("event=" + type);
        }
      }
      case RDMA_CM_EVENT_ESTABLISHED -> onEstablished();
      case RDMA_CM_EVENT_REJECTED ->
          onFailed(ConnectionEvent.Type.REJECTED, "refused by the peer, or its host");
      case RDMA_CM_EVENT_UNREACHABLE -> onFailed(ConnectionEvent.Type.UNREACHABLE, "no answer");
      case RDMA_CM_EVENT_CONNECT_ERROR ->
          onFailed(ConnectionEvent.Type.CONNECT_ERROR, "connecting failed");
      case RDMA_CM_EVENT_DISCONNECTED -> {
        answerPending = false;
        endIfMade("the peer, or its host, disconnected");
      }
      case RDMA_CM_EVENT_DEVICE_REMOVAL -> {
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
    try {
      String other = device.context().otherDevice(id);
      if (other == null) {
        id.resolveRoute(resolveTimeoutMs);
      } else {
        resolveFailed(
            "it goes through another device: device=" + other + " wanted=" + device.info().name());
      }
    } catch (IOException e) {
      resolveFailed(Failures.message("rdma_resolve_route", e, ""));
    }
  }

  private void onRouteResolved() {
    if (phase != Phase.RESOLVING) {
      return;
    }
    try {
      localAddress = (InetSocketAddress) id.getSource();
      phase = Phase.RESOLVED;
      manager.offer(ConnectionEvent.Type.RESOLVED, this, "");
    } catch (IOException e) {
      resolveFailed(Failures.message("rdma_get_local_addr", e, ""));
    }
  }

  private void onEstablished() {
    answerPending = false;
    if (phase == Phase.ENDED) {
      // Given up in the meantime; the peer is to know.
      disconnectId();
    }
    if (phase == Phase.CONNECTING || phase == Phase.ANSWERED) {
      manager.removeAttempt(this);
      queuePair.markReady();
      phase = Phase.ESTABLISHED;
      manager.offer(ConnectionEvent.Type.ESTABLISHED, this, "");
    }
  }

  private void onFailed(ConnectionEvent.Type type, String reason) {
    answerPending = false;
    if (phase == Phase.CONNECTING) {
      end(type, reason);
    } else if (phase == Phase.ANSWERED) {
      end(ConnectionEvent.Type.CONNECT_ERROR, reason);
    }
  }
}
