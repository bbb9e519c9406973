// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.ibverbs.ffi.CmLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaCmId;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.RdmaConnParam;
import org.sparkrdma.verbs.ibverbs.ffi.Native;
import org.sparkrdma.verbs.ibverbs.ffi.NativeArena;
import org.sparkrdma.verbs.ibverbs.ffi.SetUpCalls;
import org.sparkrdma.verbs.ibverbs.ffi.SocketAddresses;

/**
 * An rdma_cm_id: fills the structs of its calls and makes the calls. {@link IbverbsConnection} or
 * the connection manager decides when; a connection guards it with its lock. The last user destroys
 * it: the connection, the thread that resolves its route, or a thread that requests it.
 */
final class CmIdentifier {
  /** Options of level RDMA_OPTION_ID whose value is one byte, see rdma_set_option(3). */
  enum Option {
    TOS(0),
    ACK_TIMEOUT(3);

    final int number;

    Option(int number) {
      this.number = number;
    }
  }

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

  /**
   * Creates one whose events come through that channel.
   *
   * @param trafficClass of the connection; empty is that of the system. It is set before the
   *     address is bound or resolved, since the route takes the class then
   */
  static CmIdentifier create(IbverbsDevice device, long channel, OptionalInt trafficClass)
      throws VerbsException {
    CmIdentifier created;
    try (NativeArena one = new NativeArena()) {
      long at = one.allocate(Long.BYTES);
      if (device.libraries().cm().createId(channel, at) != 0) {
        throw Libraries.failure("rdma_create_id", "");
      }
      created = new CmIdentifier(device, Native.getLong(at));
    }
    boolean complete = false;
    try {
      if (trafficClass.isPresent()) {
        device.setOption(created.id, Option.TOS, trafficClass.getAsInt());
      }
      complete = true;
      return created;
    } finally {
      if (!complete) {
        created.release();
      }
    }
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

  /** Number of the port of the device that it is bound to. */
  int port() {
    return Native.getByte(id + RdmaCmId.PORT_NUM);
  }

  /** The device that it was bound to, when it is a different one; else null. */
  String otherDevice() {
    long context = Native.getLong(id + RdmaCmId.VERBS);
    return context == 0 || context == device.context() ? null : Contexts.name(context);
  }

  /**
   * Binds it to an address of the device.
   *
   * @throws VerbsException also when the address belongs to another device
   */
  void bind(InetSocketAddress address) throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      if (cm.bindAddr(id, write(address, one)) != 0) {
        throw Libraries.failure("rdma_bind_addr", "address=" + address);
      }
    }
    if (otherDevice() != null) {
      throw new VerbsException(
          "rdma_bind_addr",
          "rdma_bind_addr failed: the address belongs to another device: address="
              + address
              + (" device=" + otherDevice() + " wanted=" + device.info().name()));
    }
  }

  void listen(int backlog) throws VerbsException {
    if (cm.listen(id, backlog) != 0) {
      throw Libraries.failure("rdma_listen", "address=" + localAddress());
    }
  }

  /**
   * Starts to resolve the address; an event reports the outcome.
   *
   * @param local may be null
   */
  void resolveAddress(InetSocketAddress local, InetSocketAddress remote, int timeoutMs)
      throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      long to = write(remote, one);
      long from = local == null ? 0 : write(local, one);
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
      if (cm.createQp(id, pd, IbverbsProtectionDomain.writeAttributes(settings, one)) != 0) {
        throw Libraries.failure("rdma_create_qp", settings.toString());
      }
    }
    return Native.getLong(id + RdmaCmId.QP);
  }

  boolean hasQueuePair() {
    return Native.getLong(id + RdmaCmId.QP) != 0;
  }

  /** Destroys the device's queue pair, if there is one. */
  void destroyQueuePair() {
    if (hasQueuePair()) {
      cm.destroyQp(id);
    }
  }

  /** Sets the acknowledge time-out, where the transport has one and the parameters name one. */
  void setAckTimeout(ConnectionParameters parameters) throws VerbsException {
    if (parameters.ackTimeout() > 0 && device.info().can(Capability.ACK_TIMEOUT)) {
      device.setOption(id, Option.ACK_TIMEOUT, parameters.ackTimeout());
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
      if (cm.connect(id, write(parameters, peerReads, peerMaxReads, one)) != 0) {
        throw Libraries.failure("rdma_connect", "remote=" + remoteAddress());
      }
    }
  }

  /** Accepts the connection that a peer requested; parameters as for {@link #connect}. */
  void accept(ConnectionParameters parameters, int peerReads, int peerMaxReads)
      throws VerbsException {
    try (NativeArena one = new NativeArena()) {
      if (cm.accept(id, write(parameters, peerReads, peerMaxReads, one)) != 0) {
        throw Libraries.failure("rdma_accept", "remote=" + remoteAddress());
      }
    }
  }

  private long write(
      ConnectionParameters parameters, int peerReads, int peerMaxReads, NativeArena one) {
    byte[] data = parameters.privateData();
    int limit = device.info().limits().maxReadsInFlight();
    int reads = Math.min(parameters.readsInFlight(), limit);
    long at = one.allocate(RdmaConnParam.SIZE);
    Native.putLong(at + RdmaConnParam.PRIVATE_DATA, one.allocate(data, 0));
    Native.putByte(at + RdmaConnParam.PRIVATE_DATA_LEN, data.length);
    Native.putByte(at + RdmaConnParam.RESPONDER_RESOURCES, Math.min(reads, peerReads));
    Native.putByte(at + RdmaConnParam.INITIATOR_DEPTH, Math.min(reads, peerMaxReads));
    Native.putByte(at + RdmaConnParam.FLOW_CONTROL, 1);
    Native.putByte(at + RdmaConnParam.RETRY_COUNT, parameters.retryCount());
    Native.putByte(at + RdmaConnParam.RNR_RETRY_COUNT, parameters.receiverNotReadyRetryCount());
    return at;
  }

  /** Rejects the connection that a peer requested; the peer may have given up already. */
  void reject(byte[] privateData) {
    try (NativeArena one = new NativeArena()) {
      if (cm.reject(id, one.allocate(privateData, 0), privateData.length) != 0) {
        LOG.debug("{}", Libraries.message("rdma_reject", SetUpCalls.errno(), ""));
      }
    }
  }

  /** Disconnects; the peer may have disconnected already. */
  void disconnect() {
    if (cm.disconnect(id) != 0) {
      LOG.debug("{}", Libraries.message("rdma_disconnect", SetUpCalls.errno(), ""));
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
