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

import java.lang.foreign.Arena;
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
import org.sparkrdma.verbs.cm.ConnectionEvent.Type;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.ibverbs.ffi.CmLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.IbvQpInitAttr;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaCmId;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaConnParam;
import org.sparkrdma.verbs.ibverbs.ffi.Libc;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.SocketAddresses;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/**
 * An identifier of the kernel's connection manager and its queue pair.
 *
 * <p>When it ends, by whomever, it is ended here first: the queue pair is broken, the kernel told,
 * and the event offered at once, since not every kernel's event comes. Its lock guards the
 * identifier; events of the kernel and failures of the queue pair come on other threads than the
 * owner's.
 */
final class IbverbsConnection implements Connection {
  private static final Logger LOG = LoggerFactory.getLogger(IbverbsConnection.class);
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
  private final CmLibrary cm;
  private final long id;
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
      long id,
      InetSocketAddress remote,
      int resolveTimeoutMs,
      int peerReads,
      int peerBearsReads,
      Phase phase) {
    this.manager = manager;
    this.id = id;
    this.remoteAddress = remote;
    this.resolveTimeoutMs = resolveTimeoutMs;
    this.peerReads = peerReads;
    this.peerBearsReads = peerBearsReads;
    this.phase = phase;
    device = manager.device();
    cm = device.libraries().cm();
  }

  /** One that this side asks for; takes over the identifier. */
  static IbverbsConnection resolving(
      IbverbsConnectionManager manager, long id, InetSocketAddress remote, Duration timeout) {
    int timeoutMs = (int) Math.max(1, Math.min(Integer.MAX_VALUE, timeout.toMillis()));
    int most = manager.device().info().limits().maxReadsInFlight();
    return new IbverbsConnection(manager, id, remote, timeoutMs, most, most, Phase.RESOLVING);
  }

  /** One that a peer asks for; takes over the identifier. */
  static IbverbsConnection requested(IbverbsConnectionManager manager, CmEvent request) {
    long id = request.id();
    var connection =
        new IbverbsConnection(
            manager,
            id,
            SocketAddresses.read(id + RdmaCmId.ROUTE_ADDR_DST_ADDR),
            0,
            request.responderResources(),
            request.initiatorDepth(),
            Phase.REQUESTED);
    connection.localAddress = SocketAddresses.read(id + RdmaCmId.ROUTE_ADDR_SRC_ADDR);
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
    try (Arena one = Arena.ofConfined()) {
      long to = one.allocate(SocketAddresses.SIZE, Long.BYTES).address();
      SocketAddresses.write(to, remoteAddress);
      long from = 0;
      if (local != null) {
        from = one.allocate(SocketAddresses.SIZE, Long.BYTES).address();
        SocketAddresses.write(from, local);
      }
      if (cm.resolveAddr(id, from, to, resolveTimeoutMs) != 0) {
        resolveFailed(Libraries.message("rdma_resolve_addr", Downcalls.errno(), ""));
      }
    }
  }

  private void resolveFailed(String reason) {
    phase = Phase.ENDED;
    manager.offer(Type.RESOLVE_FAILED, this, "no way to the address: " + reason);
  }

  @Override
  public synchronized QueuePair createQueuePair(ProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException {
    if (queuePair != null || (phase != Phase.RESOLVED && phase != Phase.REQUESTED)) {
      throw new IllegalStateException("no queue pair can be made now: phase=" + phase);
    }
    checkLimits(settings);
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
    try (Arena one = Arena.ofConfined()) {
      long attributes = one.allocate(IbvQpInitAttr.SIZE, Long.BYTES).address();
      Memory.putLong(attributes + IbvQpInitAttr.SEND_CQ, sends.cq());
      Memory.putLong(attributes + IbvQpInitAttr.RECV_CQ, receives.cq());
      Memory.putInt(attributes + IbvQpInitAttr.CAP_MAX_SEND_WR, settings.sendDepth());
      Memory.putInt(attributes + IbvQpInitAttr.CAP_MAX_RECV_WR, settings.receiveDepth());
      Memory.putInt(attributes + IbvQpInitAttr.CAP_MAX_SEND_SGE, settings.maxSge());
      Memory.putInt(attributes + IbvQpInitAttr.CAP_MAX_RECV_SGE, settings.maxSge());
      Memory.putInt(attributes + IbvQpInitAttr.CAP_MAX_INLINE_DATA, settings.maxInlineBytes());
      Memory.putInt(attributes + IbvQpInitAttr.QP_TYPE, VerbsLibrary.QP_TYPE_RC);
      if (cm.createQp(id, mine.pd(), attributes) != 0) {
        throw Libraries.failure("rdma_create_qp", sizes(settings));
      }
    } catch (VerbsException e) {
      device.queuePairs().remove(name);
      throw e;
    }
    long qp = Memory.getLong(id + RdmaCmId.QP);
    var made = new IbverbsQueuePair(mine, this, name, qp, settings);
    queuePair = made;
    mine.add(made);
    return made;
  }

  private void checkLimits(QueuePairSettings settings) {
    DeviceLimits limits = device.info().limits();
    if (settings.sendDepth() > limits.maxQueuePairDepth()
        || settings.receiveDepth() > limits.maxQueuePairDepth()
        || settings.maxSge() > limits.maxSge()
        || settings.maxInlineBytes() > limits.maxInlineBytes()) {
      throw new IllegalArgumentException(
          "over the device's limits: "
              + sizes(settings)
              + (" maxQueuePairDepth=" + limits.maxQueuePairDepth())
              + (" maxSge=" + limits.maxSge())
              + (" maxInlineBytes=" + limits.maxInlineBytes()));
    }
  }

  private static String sizes(QueuePairSettings settings) {
    return "sendDepth="
        + settings.sendDepth()
        + (" receiveDepth=" + settings.receiveDepth())
        + (" maxSge=" + settings.maxSge())
        + (" maxInlineBytes=" + settings.maxInlineBytes());
  }

  @Override
  public QueuePair queuePair() {
    return queuePair;
  }

  @Override
  public synchronized void connect(ConnectionParameters parameters) throws VerbsException {
    require(phase == Phase.RESOLVED && queuePair != null);
    checkPrivateData(parameters.privateData());
    phase = Phase.CONNECTING;
    deadlineNs = System.nanoTime() + parameters.timeout().toNanos();
    manager.addAttempt(this);
    setAckTimeout(parameters);
    try (Arena one = Arena.ofConfined()) {
      if (cm.connect(id, write(parameters, one)) != 0) {
        int errno = Downcalls.errno();
        String reason = Libraries.message("rdma_connect", errno, "remote=" + remoteAddress);
        switch (errno) {
          case ECONNREFUSED -> end(Type.REJECTED, reason);
          case ETIMEDOUT, EHOSTUNREACH, ENETUNREACH -> end(Type.UNREACHABLE, reason);
          default -> {
            manager.removeAttempt(this);
            phase = Phase.ENDED;
            throw new VerbsException("rdma_connect", errno, reason, null);
          }
        }
      }
    }
  }

  @Override
  public synchronized void accept(ConnectionParameters parameters) throws VerbsException {
    require(phase == Phase.REQUESTED && queuePair != null);
    checkPrivateData(parameters.privateData());
    phase = Phase.ANSWERED;
    setAckTimeout(parameters);
    try (Arena one = Arena.ofConfined()) {
      if (cm.accept(id, write(parameters, one)) != 0) {
        VerbsException failure = Libraries.failure("rdma_accept", "remote=" + remoteAddress);
        phase = Phase.ENDED;
        throw failure;
      }
    }
    queuePair.markReady();
  }

  private void setAckTimeout(ConnectionParameters parameters) throws VerbsException {
    if (parameters.ackTimeout() > 0 && device.rules().hasAckTimeout()) {
      try (Arena one = Arena.ofConfined()) {
        long exponent = one.allocate(1).address();
        Memory.putByte(exponent, parameters.ackTimeout());
        if (cm.setAckTimeout(id, exponent) != 0) {
          throw Libraries.failure("rdma_set_option", "ackTimeout=" + parameters.ackTimeout());
        }
      }
    }
  }

  private long write(ConnectionParameters parameters, Arena one) {
    byte[] data = parameters.privateData();
    int limit = device.info().limits().maxReadsInFlight();
    int reads = Math.min(parameters.readsInFlight(), limit);
    long at = one.allocate(RdmaConnParam.SIZE, Long.BYTES).address();
    Memory.putLong(at + RdmaConnParam.PRIVATE_DATA, copy(data, one));
    Memory.putByte(at + RdmaConnParam.PRIVATE_DATA_LEN, data.length);
    Memory.putByte(at + RdmaConnParam.RESPONDER_RESOURCES, Math.min(reads, peerReads));
    Memory.putByte(at + RdmaConnParam.INITIATOR_DEPTH, Math.min(reads, peerBearsReads));
    Memory.putByte(at + RdmaConnParam.FLOW_CONTROL, 1);
    Memory.putByte(at + RdmaConnParam.RETRY_COUNT, parameters.retryCount());
    Memory.putByte(at + RdmaConnParam.RNR_RETRY_COUNT, parameters.receiverNotReadyRetryCount());
    return at;
  }

  private static long copy(byte[] data, Arena one) {
    long at = one.allocate(Math.max(1, data.length)).address();
    for (int i = 0; i < data.length; i++) {
      Memory.putByte(at + i, data[i]);
    }
    return at;
  }

  @Override
  public synchronized void reject(byte[] privateData) {
    require(phase == Phase.REQUESTED);
    checkPrivateData(privateData);
    phase = Phase.ENDED;
    try (Arena one = Arena.ofConfined()) {
      if (cm.reject(id, copy(privateData, one), privateData.length) != 0) {
        LOG.debug("{}", Libraries.message("rdma_reject", Downcalls.errno(), ""));
      }
    }
  }

  private static void checkPrivateData(byte[] privateData) {
    if (privateData.length > DeviceFacts.MAX_PRIVATE_DATA_BYTES) {
      throw new IllegalArgumentException(
          "too much private data: lengthBytes="
              + privateData.length
              + (" limit=" + DeviceFacts.MAX_PRIVATE_DATA_BYTES));
    }
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
      end(Type.DISCONNECTED, reason);
    } else if (phase == Phase.ANSWERED) {
      end(Type.CONNECT_ERROR, reason);
    }
  }

  private void end(Type type, String reason) {
    end(type, new byte[0], reason);
  }

  private void end(Type type, byte[] privateData, String reason) {
    boolean made = phase == Phase.ESTABLISHED || phase == Phase.ANSWERED;
    phase = Phase.ENDED;
    manager.removeAttempt(this);
    if (queuePair != null) {
      queuePair.markBroken();
    }
    if (Memory.getLong(id + RdmaCmId.QP) != 0) {
      queuePair.breakOnDevice();
    }
    if (made) {
      // Not of an attempt: there the kernel would wait for its outcome first.
      disconnectId();
    }
    manager.offer(new ConnectionEvent(type, this, null, privateData, reason));
  }

  /** Tells the peer, which may know already. */
  private void disconnectId() {
    if (cm.disconnect(id) != 0) {
      LOG.debug("{}", Libraries.message("rdma_disconnect", Downcalls.errno(), ""));
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
    IbverbsQueuePair pair = queuePair;
    if (pair != null) {
      pair.close();
    }
    synchronized (this) {
      if (phase == Phase.CLOSED) {
        return;
      }
      phase = Phase.CLOSED;
      manager.onClosed(this, id);
      cm.destroyId(id);
    }
  }

  // Of the queue pair, on any thread.

  synchronized void onQueuePairBroken(String reason) {
    endIfMade(reason);
  }

  /** Ends the connection and destroys the device's queue pair. */
  synchronized void onQueuePairClosed() {
    endIfMade("queue pair closed");
    cm.destroyQp(id);
  }

  // Of the connection manager.

  long deadlineNs() {
    return deadlineNs;
  }

  synchronized void giveUpWhenLate(long nowNs) {
    if (phase == Phase.CONNECTING && nowNs - deadlineNs >= 0) {
      end(Type.UNREACHABLE, "no answer in time");
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
          onFailed(Type.REJECTED, event, device.rules().rejection(event.status()));
      case CmEvent.UNREACHABLE ->
          onFailed(Type.UNREACHABLE, event, "no answer: status=" + event.status());
      case CmEvent.CONNECT_ERROR ->
          onFailed(Type.CONNECT_ERROR, event, "connecting failed: status=" + event.status());
      case CmEvent.DISCONNECTED -> endIfMade("the peer, or its host, disconnected");
      case CmEvent.DEVICE_REMOVAL -> {
        if (phase != Phase.CLOSED) {
          end(Type.DEVICE_REMOVED, "the device is gone: device=" + device.info().name());
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
    String other = manager.otherDevice(id);
    if (other != null) {
      resolveFailed(
          "it goes through another device: device=" + other + " wanted=" + device.info().name());
    } else if (cm.resolveRoute(id, resolveTimeoutMs) != 0) {
      resolveFailed(Libraries.message("rdma_resolve_route", Downcalls.errno(), ""));
    }
  }

  private void onRouteResolved() {
    if (phase == Phase.RESOLVING) {
      localAddress = SocketAddresses.read(id + RdmaCmId.ROUTE_ADDR_SRC_ADDR);
      phase = Phase.RESOLVED;
      manager.offer(Type.RESOLVED, this, "");
    }
  }

  private void onEstablished(byte[] privateData) {
    if (phase == Phase.ENDED) {
      // Given up in the meantime; the peer is to know.
      disconnectId();
    }
    if (phase != Phase.CONNECTING && phase != Phase.ANSWERED) {
      return;
    }
    manager.removeAttempt(this);
    try {
      queuePair.markReady();
    } catch (VerbsException e) {
      end(Type.CONNECT_ERROR, e.getMessage());
      return;
    }
    phase = Phase.ESTABLISHED;
    manager.offer(new ConnectionEvent(Type.ESTABLISHED, this, null, privateData, ""));
  }

  private void onFailed(Type type, CmEvent event, String reason) {
    if (phase == Phase.CONNECTING) {
      end(type, event.privateData(), reason);
    } else if (phase == Phase.ANSWERED) {
      end(Type.CONNECT_ERROR, reason);
    }
  }
}
