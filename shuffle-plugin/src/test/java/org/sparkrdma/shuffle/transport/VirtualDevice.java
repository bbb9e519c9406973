// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.CompletionQueue;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.UnsupportedDevice;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.Transport;

/**
 * Memory, regions and completion queues of a simulated executor. Only memory of control messages
 * has bytes of its own; all larger memory shares some, since READs move none. For one thread.
 */
final class VirtualDevice extends UnsupportedDevice implements ProtectionDomain {
  private static final int MAX_MESSAGE_BYTES = 64 << 10;
  private static final ByteBuffer SHARED = ByteBuffer.allocateDirect(64 << 20);

  private final DeviceInfo info;
  private long nextAddress = 1L << 30;
  private int nextKey = 1;
  private int regions;
  private int maxRegions = Integer.MAX_VALUE;
  private int refusals;
  private int deregistrations;

  /**
   * @param privateData whether connection events have private data
   */
  VirtualDevice(boolean privateData) {
    EnumSet<Capability> lacking = EnumSet.of(Capability.ON_DEMAND_PAGING);
    if (!privateData) {
      lacking.add(Capability.ACCEPT_PRIVATE_DATA);
    }
    info =
        new DeviceInfo(
            "virtual0",
            "virtual",
            Transport.INFINIBAND,
            1,
            new DeviceLimits(
                1 << 18, 1 << 15, 30, 30, 1 << 22, 1 << 24, 1L << 40, 1L << 31, 16, 0, 56, 1),
            EnumSet.complementOf(lacking),
            List.of());
  }

  @Override
  public DeviceInfo info() {
    return info;
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
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    return region(memory, offset, lengthBytes, access);
  }

  @Override
  public MemoryRegion registerFile(Path file, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    return region(null, offset, lengthBytes, access);
  }

  private Region region(HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    if (regions >= maxRegions) {
      refusals++;
      throw new VerbsException("ibv_reg_mr", "regions=" + regions);
    }
    Region region =
        new Region(memory, offset, lengthBytes, access, nextAddress, nextKey++, this::deregister);
    nextAddress += lengthBytes + 4096;
    regions++;
    return region;
  }

  private void deregister() {
    regions--;
    deregistrations++;
  }

  /** Makes it register no more regions than this. */
  void limitRegions(int max) {
    maxRegions = max;
  }

  /** Registrations that it has refused. */
  int refusals() {
    return refusals;
  }

  /** Regions that are registered now. */
  int regions() {
    return regions;
  }

  /** Deregistrations so far. */
  int deregistrations() {
    return deregistrations;
  }

  /** A region; of a file without memory. */
  record Region(
      HostMemory memory,
      long offset,
      long lengthBytes,
      Set<AccessFlag> access,
      long address,
      int key,
      Runnable onClose)
      implements MemoryRegion {
    ByteBuffer bytes(long at, int length) {
      return memory.slice(offset + at, length);
    }

    @Override
    public RemoteRegion remote() {
      return new RemoteRegion(address, lengthBytes, key);
    }

    @Override
    public void close() {
      onClose.run();
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
  static final class Queue implements CompletionQueue {
    private final int capacity;
    private final ArrayDeque<WorkCompletion> completions = new ArrayDeque<>();

    Queue(int capacity) {
      this.capacity = capacity;
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
    public void close() {}
  }
}
