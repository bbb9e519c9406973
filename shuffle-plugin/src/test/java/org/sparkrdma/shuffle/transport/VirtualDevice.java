// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.shuffle.pinned.MemoryShares;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.PlainRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.UnsupportedDevice;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.TransportType;

/**
 * Memory, regions and completion queues of a simulated executor. Only regions of messages have
 * bytes of their own; all larger memory shares some, since READs move none. For one thread.
 */
final class VirtualDevice extends UnsupportedDevice implements ProtectionDomain {
  private static final int MAX_MESSAGE_BYTES =
      MemoryShares.BUFFERS_PER_REGION * MemoryShares.MESSAGE_BYTES;

  /** Of rings, as devices have them at least. */
  static final long ENTRY_BYTES = 64;

  static final long SEND_ENTRY_BYTES = 256;
  private static final ByteBuffer SHARED = ByteBuffer.allocateDirect(16 << 20);
  private static final DeviceInfo INFO =
      new DeviceInfo(
          "virtual0",
          "virtual",
          TransportType.INFINIBAND,
          1,
          new DeviceLimits(
              1 << 18, 1 << 15, 30, 30, 1 << 22, 1 << 24, 1L << 40, 1L << 31, 16, 56, 1),
          EnumSet.complementOf(EnumSet.of(Capability.ON_DEMAND_PAGING)),
          List.of());

  private final VirtualExecutor executor;
  final Map<Long, Region> regions = new HashMap<>();
  private long nextAddress = 1L << 30;
  private long nextKey = 1;

  /** Each access for which memory or a file was registered. */
  final Set<Set<AccessFlag>> access = new HashSet<>();

  /** Bytes of registered regions of files. */
  long fileBytes;

  /** Bytes of all registered regions, in whole pages, and of rings. */
  private long pinnedBytes;

  VirtualDevice(VirtualExecutor executor) {
    this.executor = executor;
  }

  @Override
  public DeviceInfo info() {
    return INFO;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return this;
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    return executor.channel();
  }

  @Override
  public ConnectionManager createConnectionManager(CompletionChannel channel) {
    return executor.manager;
  }

  @Override
  public HostMemory allocate(long lengthBytes) {
    return new Memory(lengthBytes);
  }

  @Override
  public CompletionQueue createCompletionQueue(
      int capacity, CompletionChannel channel, int vector) {
    return new Queue(capacity);
  }

  @Override
  public MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access) {
    return new Region(memory, offset, lengthBytes, access);
  }

  @Override
  public MemoryRegion registerFile(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) {
    return new Region(null, offset, lengthBytes, access);
  }

  /** It has pinned so many bytes more. */
  void pin(long lengthBytes) {
    pinnedBytes += lengthBytes;
    executor.onPinned(pinnedBytes);
  }

  void unpin(long lengthBytes) {
    executor.onPinned(pinnedBytes);
    pinnedBytes -= lengthBytes;
  }

  /** Whether a peer may read these bytes. */
  boolean isReadable(long key, long address, long lengthBytes) {
    Region region = regions.get(key);
    return region != null
        && region.access().contains(AccessFlag.REMOTE_READ)
        && address >= region.address()
        && address + lengthBytes <= region.address() + region.lengthBytes();
  }

  /** A region; of a file without memory. */
  final class Region extends PlainRegion {
    private final HostMemory memory;
    private final long offset;

    private Region(HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access) {
      super(new RemoteRegion(nextAddress, lengthBytes, nextKey++), access);
      this.memory = memory;
      this.offset = offset;
      nextAddress += lengthBytes + 4096;
      fileBytes += memory == null ? lengthBytes : 0;
      regions.put(remote().remoteKey(), this);
      VirtualDevice.this.access.add(access);
      pin(VirtualExecutor.wholePages(lengthBytes));
    }

    /** Bytes that the device uses, which must be registered. */
    ByteBuffer bytes(long at, int length) {
      requireOpen();
      return memory.slice(offset + at, length);
    }

    /** The device writes it now. */
    void requireOpen() {
      if (!regions.containsKey(remote().remoteKey())) {
        throw new IllegalStateException(
            "memory was freed while the device used it: key=" + remote().remoteKey());
      }
    }

    @Override
    public void close() {
      if (regions.remove(remote().remoteKey()) != null) {
        fileBytes -= memory == null ? lengthBytes() : 0;
        unpin(VirtualExecutor.wholePages(lengthBytes()));
      }
    }
  }

  private static final class Memory implements HostMemory {
    private final long lengthBytes;
    private ByteBuffer own;

    Memory(long lengthBytes) {
      this.lengthBytes = lengthBytes;
    }

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
      if (lengthBytes > MAX_MESSAGE_BYTES) {
        return SHARED.slice(0, length).order(ByteOrder.LITTLE_ENDIAN);
      }
      if (own == null) {
        own = ByteBuffer.allocateDirect((int) lengthBytes);
      }
      return own.slice((int) offset, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() {}
  }

  /** A completion queue, polled by the agent. */
  final class Queue implements CompletionQueue {
    private final int capacity;
    private final ArrayDeque<WorkCompletion> completions = new ArrayDeque<>();

    Queue(int capacity) {
      this.capacity = capacity;
      pin(ENTRY_BYTES * capacity);
    }

    void add(WorkCompletion completion) {
      completions.add(completion);
      if (completions.size() > capacity) {
        throw new IllegalStateException("completion queue overrun: capacity=" + capacity);
      }
    }

    @Override
    public int capacity() {
      return capacity;
    }

    @Override
    public int poll(int limit, CompletionHandler handler) {
      int handled = 0;
      while (handled < limit && !completions.isEmpty()) {
        handler.onCompletion(completions.poll());
        handled++;
      }
      return handled;
    }

    @Override
    public void arm() {}

    @Override
    public void close() {
      unpin(ENTRY_BYTES * capacity);
    }
  }
}
