// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/** One end of a connection of the virtual network. A READ takes time and moves no bytes. */
final class VirtualConnection implements Connection {
  private static final byte[] NO_DATA = {};
  private static final Set<Integer> ASKS =
      Set.of(Messages.REQUEST, Messages.LOCATE, Messages.RELEASE);
  private static final Set<Integer> ANSWERS =
      Set.of(Messages.REPLY, Messages.LOCATED, Messages.RELEASED);

  private final VirtualFabric fabric;
  private final VirtualExecutor owner;
  private final InetSocketAddress local;
  private final InetSocketAddress remote;
  private final int requestNumber;
  private VirtualConnection other;
  private Pair pair;
  private Object attachment;
  private boolean established;
  private boolean refused;
  private boolean closed;

  private record Posted(VirtualDevice.Region region, long offset, int length, long id) {}

  /** Memory into which a READ that is posted may write, until its queue pair is destroyed. */
  record Sink(VirtualConnection of, VirtualDevice.Region region, long offset, long bytes) {
    void requireApart(Sink other) {
      if (region == other.region
          && offset < other.offset + other.bytes
          && other.offset < offset + bytes) {
        throw new IllegalStateException("memory was freed while a READ may write it");
      }
    }
  }

  private record Completion(
      long requestId,
      Opcode opcode,
      long byteLength,
      int queuePairNumber,
      Object attachment,
      WorkStatus status,
      int vendorError,
      boolean hasImmediate,
      int immediate)
      implements WorkCompletion {}

  /**
   * @param requestNumber number of the initiator's queue pair; 0 at the initiator
   */
  VirtualConnection(
      VirtualFabric fabric,
      VirtualExecutor owner,
      InetSocketAddress local,
      InetSocketAddress remote,
      int requestNumber) {
    this.fabric = fabric;
    this.owner = owner;
    this.local = local;
    this.remote = remote;
    this.requestNumber = requestNumber;
  }

  boolean isClosed() {
    return closed;
  }

  /** An event arrives at this end after this time and the delay of a test. */
  private void event(long afterNs, ConnectionEvent.Type type) {
    event(afterNs, type, NO_DATA);
  }

  private void event(long afterNs, ConnectionEvent.Type type, byte[] privateData) {
    long delayNs = fabric.eventDelay.applyAsLong(owner, type);
    if (delayNs == VirtualFabric.LOST) {
      return;
    }
    fabric.after(
        afterNs + delayNs,
        () -> {
          established |= type == ConnectionEvent.Type.ESTABLISHED;
          refused |=
              type == ConnectionEvent.Type.REJECTED
                  || type == ConnectionEvent.Type.REJECTED_AS_STALE;
          owner.onEvent(new ConnectionEvent(type, this, null, privateData, ""));
        });
  }

  void resolve() {
    event(VirtualFabric.SETUP_NS, ConnectionEvent.Type.RESOLVED);
  }

  @Override
  public void connect(ConnectionParameters parameters) {
    owner.requests++;
    pair.requireReceives(pair.receiveDepth);
    fabric.after(
        parameters.timeout().toNanos(),
        () -> {
          if (!established && !refused && !closed) {
            event(0, ConnectionEvent.Type.UNREACHABLE);
          }
        });
    VirtualFabric.Rejection rejection = fabric.rejections.get(remote.getAddress());
    VirtualExecutor target = fabric.at(remote.getAddress());
    if (rejection != null) {
      event(2 * VirtualFabric.SETUP_NS, rejection.type(), rejection.privateData());
    } else if (target != null) {
      // The request arrives also where the initiator has closed the connection since.
      other =
          new VirtualConnection(
              fabric, target, /* local= */ remote, /* remote= */ local, pair.number());
      other.other = this;
      other.event(VirtualFabric.SETUP_NS, ConnectionEvent.Type.CONNECT_REQUEST);
    }
  }

  @Override
  public void accept(ConnectionParameters parameters) {
    established = true;
    pair.requireReceives(pair.receiveDepth);
    if (other.closed) {
      event(2 * VirtualFabric.SETUP_NS, ConnectionEvent.Type.CONNECT_ERROR);
    } else {
      other.event(VirtualFabric.SETUP_NS, ConnectionEvent.Type.ESTABLISHED);
      event(2 * VirtualFabric.SETUP_NS, ConnectionEvent.Type.ESTABLISHED);
    }
  }

  @Override
  public void reject(byte[] privateData) {
    other.event(VirtualFabric.SETUP_NS, ConnectionEvent.Type.REJECTED, privateData);
  }

  @Override
  public void disconnect() {
    close();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    fabric.beforeClose.run();
    closed = true;
    owner.sinks.removeIf(sink -> sink.of == this);
    if (pair != null) {
      owner.onQueuePair(-1);
      owner.device.unpin(pair.ringBytes);
    }
    if (established && !other.closed) {
      other.event(VirtualFabric.LATENCY_NS, ConnectionEvent.Type.DISCONNECTED);
    }
  }

  @Override
  public InetSocketAddress localAddress() {
    return local;
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return remote;
  }

  @Override
  public int requestQueuePairNumber() {
    return requestNumber;
  }

  @Override
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairSettings settings) {
    pair = new Pair(owner.onQueuePair(1), settings);
    return pair;
  }

  @Override
  public QueuePair queuePair() {
    return pair;
  }

  @Override
  public Object attachment() {
    return attachment;
  }

  @Override
  public void attach(Object newAttachment) {
    attachment = newAttachment;
  }

  private final class Pair implements QueuePair {
    private final int number;
    private final VirtualDevice.Queue sendQueue;
    private final VirtualDevice.Queue receiveQueue;
    private final long ringBytes;
    private final int receiveDepth;

    /** Messages of the initiator that this end has sent or received, without an answer. */
    private int unanswered;

    private final ArrayDeque<Posted> receives = new ArrayDeque<>();

    /** Messages that found no receive; the sender repeats them without limit. */
    private final ArrayDeque<byte[]> unreceived = new ArrayDeque<>();

    private Set<AccessFlag> access = Set.of();

    /** Work completes in the order in which it was posted. */
    private long lastDoneNs;

    /** A message was lost: nothing that was posted later arrives or completes. */
    private boolean stuck;

    private boolean failed;

    Pair(int number, QueuePairSettings settings) {
      this.number = number;
      this.sendQueue = (VirtualDevice.Queue) settings.sendQueue();
      this.receiveQueue = (VirtualDevice.Queue) settings.receiveQueue();
      this.ringBytes =
          VirtualDevice.SEND_ENTRY_BYTES * settings.sendDepth()
              + VirtualDevice.ENTRY_BYTES * settings.receiveDepth();
      this.receiveDepth = settings.receiveDepth();
      owner.device.pin(ringBytes);
    }

    @Override
    public int number() {
      return number;
    }

    @Override
    public QueuePairState state() {
      return closed ? QueuePairState.ERROR : QueuePairState.READY_TO_SEND;
    }

    @Override
    public boolean postSend(WorkRequest request) {
      if (request.opcode() == Opcode.SEND) {
        send(request);
      } else {
        read(request);
      }
      return true;
    }

    private void send(WorkRequest request) {
      int length = request.length(0);
      byte[] message = new byte[length];
      ((VirtualDevice.Region) request.region(0)).bytes(request.offset(0), length).get(message);
      int type = Messages.type(ByteBuffer.wrap(message));
      count(type);
      requireReceives(requestNumber == 0 ? unanswered : receiveDepth - unanswered);
      long delayNs = fabric.messageDelay.applyAsLong(owner, type);
      stuck |= delayNs == VirtualFabric.LOST;
      if (!stuck) {
        lastDoneNs = Math.max(lastDoneNs, fabric.nowNs()) + VirtualFabric.LATENCY_NS + delayNs;
        VirtualConnection to = other;
        byte[] arriving = fabric.messageChange.apply(message);
        fabric.at(lastDoneNs, () -> to.deliver(arriving));
        complete(request, null, length);
      }
    }

    /** A message is sent or received. */
    private void count(int type) {
      unanswered += ASKS.contains(type) ? 1 : 0;
      unanswered -= ANSWERS.contains(type) ? 1 : 0;
    }

    /** What the peer sends next may come before a receive that is posted later. */
    void requireReceives(int count) {
      if (receives.size() < count) {
        owner.unreceived++;
      }
    }

    private void read(WorkRequest request) {
      long address = request.remoteAddress();
      long key = request.remoteKey();
      long bytes = request.totalBytes();
      if (bytes <= 32 && address / 4_096 != (address + bytes - 1) / 4_096) {
        throw new IllegalStateException("soft iWARP would answer with wrong bytes: " + address);
      }
      VirtualDevice.Region into = (VirtualDevice.Region) request.region(0);
      Sink sink = new Sink(VirtualConnection.this, into, request.offset(0), bytes);
      owner.sinks.forEach(sink::requireApart);
      owner.sinks.add(sink);
      long delayNs = fabric.readDelay.applyAsLong(other.owner);
      stuck |= delayNs == VirtualFabric.LOST;
      if (!stuck) {
        lastDoneNs = Math.max(lastDoneNs, owner.readNs(other.owner, bytes)) + delayNs;
        complete(
            request,
            () -> {
              into.requireOpen();
              owner.sinks.remove(sink);
              return other.pair.access.contains(AccessFlag.REMOTE_READ)
                  && other.owner.device.isReadable(key, address, bytes);
            },
            bytes);
      }
    }

    /**
     * The request completes when all that was posted before it has completed, unless this end is
     * closed then. Where the other end is closed nothing completes.
     *
     * @param check whether a READ succeeds, asked at that time; null for a SEND
     */
    private void complete(WorkRequest request, BooleanSupplier check, long bytes) {
      long id = request.id();
      Opcode opcode = request.opcode();
      boolean signalled = request.isSignalled();
      fabric.at(
          lastDoneNs,
          () -> {
            owner.bytesInFlight -= check == null ? 0 : bytes;
            if (closed || failed || other.closed) {
              return;
            }
            failed = check != null && !check.getAsBoolean();
            if (signalled || failed) {
              WorkStatus status = failed ? WorkStatus.REMOTE_ACCESS_ERROR : WorkStatus.SUCCESS;
              sendQueue.add(completion(id, opcode, bytes, status));
              owner.wake();
            }
          });
    }

    private Completion completion(long id, Opcode opcode, long bytes, WorkStatus status) {
      return new Completion(id, opcode, bytes, number, attachment, status, 0, false, 0);
    }

    @Override
    public int postSend(WorkRequest[] requests, int offset, int count) {
      for (int i = 0; i < count; i++) {
        postSend(requests[offset + i]);
      }
      return count;
    }

    @Override
    public boolean postReceive(WorkRequest request) {
      receives.add(
          new Posted(
              (VirtualDevice.Region) request.region(0),
              request.offset(0),
              request.length(0),
              request.id()));
      if (!unreceived.isEmpty()) {
        deliver(unreceived.poll());
      }
      return true;
    }

    void deliver(byte[] message) {
      Posted posted = receives.poll();
      if (posted == null) {
        unreceived.add(message);
        owner.unreceived++;
        return;
      }
      count(Messages.type(ByteBuffer.wrap(message)));
      posted.region().bytes(posted.offset(), posted.length()).put(message);
      receiveQueue.add(completion(posted.id(), Opcode.RECEIVE, message.length, WorkStatus.SUCCESS));
      owner.wake();
    }

    @Override
    public void setRemoteAccess(Set<AccessFlag> granted) {
      access = granted;
    }

    @Override
    public void close() {}
  }

  /** A message arrives at this end. */
  void deliver(byte[] message) {
    if (!closed && pair != null) {
      pair.deliver(message);
    }
  }
}
