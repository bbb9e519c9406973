// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Set;
import org.sparkrdma.shuffle.wire.MessageType;
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

  private final VirtualFabric fabric;
  private final VirtualExecutor owner;
  private final InetSocketAddress local;
  private final InetSocketAddress remote;
  private final int requestNumber;
  private VirtualConnection other;
  private Pair pair;
  private Object attachment;
  private boolean established;
  private boolean closed;

  private record Posted(VirtualDevice.Region region, long offset, int length, long id) {}

  private record Completion(
      long requestId, Opcode opcode, long byteLength, int queuePairNumber, WorkStatus status)
      implements WorkCompletion {
    @Override
    public int vendorError() {
      return 0;
    }

    @Override
    public boolean hasImmediate() {
      return false;
    }

    @Override
    public int immediate() {
      return 0;
    }
  }

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

  /** The same connection at the other end. */
  VirtualConnection other() {
    return other;
  }

  private void event(ConnectionEvent.Type type, byte[] data) {
    owner.onEvent(new ConnectionEvent(type, this, null, data, ""));
  }

  void resolve() {
    fabric.after(VirtualFabric.SETUP_NS, () -> event(ConnectionEvent.Type.RESOLVED, NO_DATA));
  }

  @Override
  public void connect(ConnectionParameters parameters) {
    VirtualExecutor target = fabric.at(remote.getAddress());
    owner.onRequestSent(parameters.privateData());
    VirtualFabric.Rejection rejection = fabric.rejection(remote.getAddress());
    if (rejection != null) {
      fabric.after(
          fabric.requestNs(owner) + VirtualFabric.SETUP_NS,
          () ->
              owner.onEvent(
                  new ConnectionEvent(
                      rejection.type(), this, null, rejection.privateData(), rejection.reason())));
      return;
    }
    fabric.after(
        fabric.requestNs(owner),
        () -> {
          // The message arrives also where the initiator has closed the connection since.
          // At the other end the addresses change places.
          InetSocketAddress theirs = remote;
          InetSocketAddress ours = local;
          other = new VirtualConnection(fabric, target, theirs, ours, pair.number());
          other.other = this;
          other.event(ConnectionEvent.Type.CONNECT_REQUEST, parameters.privateData());
        });
  }

  @Override
  public void accept(ConnectionParameters parameters) {
    established = true;
    fabric.after(
        fabric.answerNs(owner),
        () -> {
          if (other.closed) {
            event(ConnectionEvent.Type.CONNECT_ERROR, NO_DATA);
          } else {
            other.established = true;
            other.event(ConnectionEvent.Type.ESTABLISHED, parameters.privateData());
          }
        });
  }

  @Override
  public void reject(byte[] privateData) {
    fabric.after(
        VirtualFabric.SETUP_NS, () -> other.event(ConnectionEvent.Type.REJECTED, privateData));
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
    closed = true;
    owner.spend(fabric.destroyNs());
    if (established && !other.closed) {
      fabric.after(
          VirtualFabric.LATENCY_NS, () -> other.event(ConnectionEvent.Type.DISCONNECTED, NO_DATA));
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
    owner.spend(fabric.createNs());
    pair = new Pair(owner.nextQueuePairNumber(), settings);
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
    private final ArrayDeque<Posted> receives = new ArrayDeque<>();

    /** Messages that found no receive; the sender repeats them without limit. */
    private final ArrayDeque<byte[]> unreceived = new ArrayDeque<>();

    /** Work completes in the order in which it was posted. */
    private long lastDoneNs;

    Pair(int number, QueuePairSettings settings) {
      this.number = number;
      this.sendQueue = (VirtualDevice.Queue) settings.sendQueue();
      this.receiveQueue = (VirtualDevice.Queue) settings.receiveQueue();
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
      long bytes = request.totalBytes();
      long id = request.id();
      Opcode opcode = request.opcode();
      long doneNs;
      if (opcode == Opcode.SEND) {
        byte[] message = new byte[(int) bytes];
        ((VirtualDevice.Region) request.region(0))
            .bytes(request.offset(0), (int) bytes)
            .get(message);
        owner.countMessage(MessageType.of(ByteBuffer.wrap(message)));
        fabric.after(fabric.messageNs(), () -> other.deliver(message));
        doneNs = fabric.nowNs() + 2 * fabric.messageNs();
      } else {
        doneNs = owner.readNs(other.owner, bytes);
      }
      lastDoneNs = Math.max(lastDoneNs, doneNs);
      boolean signalled = request.isSignalled();
      fabric.at(
          lastDoneNs,
          () -> {
            if (opcode == Opcode.READ) {
              owner.onReadDone(bytes);
            }
            if (signalled && !closed) {
              complete(sendQueue, id, opcode, bytes);
            }
          });
      return true;
    }

    private void complete(VirtualDevice.Queue queue, long id, Opcode opcode, long bytes) {
      queue.add(new Completion(id, opcode, bytes, number, WorkStatus.SUCCESS));
      owner.wake();
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
        return;
      }
      posted.region().bytes(posted.offset(), posted.length()).put(message);
      complete(receiveQueue, posted.id(), Opcode.RECEIVE, message.length);
    }

    @Override
    public void setRemoteAccess(Set<AccessFlag> access) {}

    @Override
    public void close() {}
  }

  private void deliver(byte[] message) {
    if (!closed && pair != null) {
      pair.deliver(message);
    }
  }
}
