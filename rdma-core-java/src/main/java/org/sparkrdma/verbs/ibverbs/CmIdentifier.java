// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.engine.LimitChecks;
import org.sparkrdma.verbs.ibverbs.ffi.CmLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.Downcalls;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaCmId;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaConnParam;
import org.sparkrdma.verbs.ibverbs.ffi.Memory;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.SocketAddresses;

/**
 * An rdma_cm_id: fills the structs of its calls and makes the calls. {@link IbverbsConnection}
 * decides when, and guards it with its lock. The last user destroys it: the connection, the thread
 * that resolves its route, or a thread that requests it.
 */
final class CmIdentifier {
  private static final Logger LOG = LoggerFactory.getLogger(CmIdentifier.class);

  private final IbverbsDevice device;
  private final CmLibrary cm;
  private final long id;
  private final AtomicInteger users = new AtomicInteger(1);

  /** Takes over the identifier. */
  CmIdentifier(IbverbsDevice device, long id) {
    this.device = device;
    this.id = id;
    cm = device.libraries().cm();
  }

  long id() {
    return id;
  }

  InetSocketAddress localAddress() {
    return SocketAddresses.read(id + RdmaCmId.ROUTE_ADDR_SRC_ADDR);
  }

  InetSocketAddress remoteAddress() {
    return SocketAddresses.read(id + RdmaCmId.ROUTE_ADDR_DST_ADDR);
  }

  /**
   * Starts to resolve the address; an event reports the outcome.
   *
   * @param local may be null
   * @param trafficClass of the connection; 0 is that of the system
   */
  void resolveAddress(
      InetSocketAddress local, InetSocketAddress remote, int trafficClass, int timeoutMs)
      throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      long to = write(remote, one);
      long from = local == null ? 0 : write(local, one);
      if (from != 0) {
        SocketAddresses.writeTrafficClass(from, trafficClass);
      }
      if (cm.resolveAddr(id, from, to, timeoutMs) != 0) {
        throw Libraries.failure("rdma_resolve_addr", "");
      }
    }
  }

  private static long write(InetSocketAddress address, NativeArena one) {
    long at = one.allocate(SocketAddresses.SIZE);
    SocketAddresses.write(at, address);
    return at;
  }

  /** Starts to resolve the route; an event reports the outcome. */
  void resolveRoute(int timeoutMs) throws VerbsException {
    if (cm.resolveRoute(id, timeoutMs) != 0) {
      throw Libraries.failure("rdma_resolve_route", "");
    }
  }

  /** Creates the device's queue pair; returns the address of its struct. */
  long createQueuePair(long pd, QueuePairSettings settings) throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      if (cm.createQp(id, pd, QueuePairAttributes.write(settings, one)) != 0) {
        throw Libraries.failure("rdma_create_qp", LimitChecks.sizes(settings));
      }
    }
    return Memory.getLong(id + RdmaCmId.QP);
  }

  boolean hasQueuePair() {
    return Memory.getLong(id + RdmaCmId.QP) != 0;
  }

  /** Destroys the device's queue pair, if there is one. */
  void destroyQueuePair() {
    if (hasQueuePair()) {
      cm.destroyQp(id);
    }
  }

  /** Sets the acknowledge time-out, where the transport has one and the parameters name one. */
  void setAckTimeout(ConnectionParameters parameters) throws VerbsException {
    if (parameters.ackTimeout() > 0 && device.rules().hasAckTimeout()) {
      device.options().set(id, CmOptions.Option.ACK_TIMEOUT, parameters.ackTimeout());
    }
  }

  /**
   * Requests the connection; an event reports the outcome.
   *
   * @param peerReads READs in flight that the peer may request
   * @param peerMaxReads READs in flight that the peer answers
   */
  void connect(ConnectionParameters parameters, int peerReads, int peerMaxReads)
      throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      byte[] data = RequestData.toSend(remoteAddress(), parameters.privateData());
      if (cm.connect(id, write(parameters, data, peerReads, peerMaxReads, one)) != 0) {
        throw Libraries.failure("rdma_connect", "remote=" + remoteAddress());
      }
    }
  }

  /** Accepts the connection that a peer requested; parameters as for {@link #connect}. */
  void accept(ConnectionParameters parameters, int peerReads, int peerMaxReads)
      throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      byte[] data = parameters.privateData();
      if (cm.accept(id, write(parameters, data, peerReads, peerMaxReads, one)) != 0) {
        throw Libraries.failure("rdma_accept", "remote=" + remoteAddress());
      }
    }
  }

  private long write(
      ConnectionParameters parameters,
      byte[] data,
      int peerReads,
      int peerMaxReads,
      NativeArena one) {
    int limit = device.info().limits().maxReadsInFlight();
    int reads = Math.min(parameters.readsInFlight(), limit);
    long at = one.allocate(RdmaConnParam.SIZE);
    Memory.putLong(at + RdmaConnParam.PRIVATE_DATA, copy(data, one));
    Memory.putByte(at + RdmaConnParam.PRIVATE_DATA_LEN, data.length);
    Memory.putByte(at + RdmaConnParam.RESPONDER_RESOURCES, Math.min(reads, peerReads));
    Memory.putByte(at + RdmaConnParam.INITIATOR_DEPTH, Math.min(reads, peerMaxReads));
    Memory.putByte(at + RdmaConnParam.FLOW_CONTROL, 1);
    Memory.putByte(at + RdmaConnParam.RETRY_COUNT, parameters.retryCount());
    Memory.putByte(at + RdmaConnParam.RNR_RETRY_COUNT, parameters.receiverNotReadyRetryCount());
    return at;
  }

  private static long copy(byte[] data, NativeArena one) {
    long at = one.allocate(Math.max(1, data.length));
    for (int i = 0; i < data.length; i++) {
      Memory.putByte(at + i, data[i]);
    }
    return at;
  }

  /** Rejects the connection that a peer requested; the peer may have given up already. */
  void reject(byte[] privateData) {
    try (NativeArena one = new NativeArena()) {
      if (cm.reject(id, copy(privateData, one), privateData.length) != 0) {
        LOG.debug("{}", Libraries.message("rdma_reject", Downcalls.errno(), ""));
      }
    }
  }

  /** Disconnects; the peer may have disconnected already. */
  void disconnect() {
    if (cm.disconnect(id) != 0) {
      LOG.debug("{}", Libraries.message("rdma_disconnect", Downcalls.errno(), ""));
    }
  }

  /** Adds a user, which must release it. Any thread. */
  void retain() {
    users.incrementAndGet();
  }

  /** Removes a user; the last one destroys the identifier. Any thread. */
  void release() {
    if (users.decrementAndGet() == 0) {
      device.destroyIdentifier(id);
    }
  }
}
