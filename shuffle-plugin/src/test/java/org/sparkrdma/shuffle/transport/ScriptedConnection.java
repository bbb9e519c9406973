// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.UnsupportedDevice;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/**
 * A connection without a device: posted work stays until a test completes it. For one thread, so
 * that a seed determines the messages of two executors.
 */
class ScriptedConnection implements Connection {
  private static final int QUEUE_PAIR_NUMBER = 5;

  private final ArrayDeque<Work> sends = new ArrayDeque<>();
  private final ArrayDeque<Work> receives = new ArrayDeque<>();
  private final Pair pair = new Pair();
  private Object attachment;
  private boolean closed;

  /** A work request as it was posted. */
  record Work(
      long id, Opcode opcode, MemoryRegion region, long offset, int length, boolean signalled) {
    static Work of(WorkRequest request) {
      boolean empty = request.elementCount() == 0;
      return new Work(
          request.id(),
          request.opcode(),
          empty ? null : request.region(0),
          empty ? 0 : request.offset(0),
          empty ? 0 : request.length(0),
          request.isSignalled());
    }

    ByteBuffer bytes() {
      return ((Region) region).memory.slice(((Region) region).offset + offset, length);
    }

    WorkCompletion completion(int byteLength) {
      return new Completion(id, opcode, byteLength);
    }
  }

  private record Completion(long requestId, Opcode opcode, long byteLength)
      implements WorkCompletion {
    @Override
    public WorkStatus status() {
      return WorkStatus.SUCCESS;
    }

    @Override
    public int vendorError() {
      return 0;
    }

    @Override
    public int queuePairNumber() {
      return QUEUE_PAIR_NUMBER;
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

  /** Memory without a device. */
  static class Memory extends UnsupportedDevice {
    @Override
    public CompletionQueue createCompletionQueue(
        int capacity, CompletionChannel channel, int vector) throws VerbsException {
      return new Queue();
    }

    @Override
    public HostMemory allocate(long lengthBytes) {
      ByteBuffer bytes = ByteBuffer.allocateDirect(Math.toIntExact(lengthBytes));
      return new HostMemory() {
        @Override
        public long address() {
          return 0;
        }

        @Override
        public long lengthBytes() {
          return lengthBytes;
        }

        @Override
        public ByteBuffer slice(long offset, int length) {
          return bytes.slice((int) offset, length).order(ByteOrder.LITTLE_ENDIAN);
        }

        @Override
        public void close() {}
      };
    }
  }

  /** Registers without a device. */
  static final class Domain implements ProtectionDomain {
    @Override
    public MemoryRegion register(
        HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access) {
      return new Region(memory, offset, lengthBytes, access);
    }

    @Override
    public MemoryRegion registerFile(
        java.nio.file.Path file, long offset, long lengthBytes, Set<AccessFlag> access) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }

  private record Region(HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      implements MemoryRegion {
    @Override
    public long address() {
      return 0x1000;
    }

    @Override
    public RemoteRegion remote() {
      return new RemoteRegion(address(), lengthBytes, 1);
    }

    @Override
    public void close() {}
  }

  /** A queue that is never polled. */
  static class Queue implements CompletionQueue {
    @Override
    public int capacity() {
      return 1;
    }

    @Override
    public int poll(int limit, org.sparkrdma.verbs.CompletionHandler handler) {
      return 0;
    }

    @Override
    public void arm() {}

    @Override
    public void close() {}
  }

  private final class Pair implements QueuePair {
    @Override
    public int number() {
      return QUEUE_PAIR_NUMBER;
    }

    @Override
    public QueuePairState state() {
      return QueuePairState.READY_TO_SEND;
    }

    @Override
    public boolean postSend(WorkRequest request) {
      sends.add(Work.of(request));
      return true;
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
      receives.add(Work.of(request));
      return true;
    }

    @Override
    public void setRemoteAccess(Set<AccessFlag> access) {}

    @Override
    public void close() {}
  }

  /** Sends and READs that are not completed, oldest first. */
  ArrayDeque<Work> sends() {
    return sends;
  }

  /** Receives that hold no message, oldest first. */
  ArrayDeque<Work> receives() {
    return receives;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public InetSocketAddress localAddress() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 2);
  }

  @Override
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairSettings settings)
      throws VerbsException {
    return pair;
  }

  @Override
  public QueuePair queuePair() {
    return pair;
  }

  @Override
  public void connect(ConnectionParameters parameters) {}

  @Override
  public void accept(ConnectionParameters parameters) {}

  @Override
  public void reject(byte[] privateData) {}

  @Override
  public void disconnect() {}

  @Override
  public Object attachment() {
    return attachment;
  }

  @Override
  public void attach(Object newAttachment) {
    attachment = newAttachment;
  }

  @Override
  public void close() {
    closed = true;
  }
}
