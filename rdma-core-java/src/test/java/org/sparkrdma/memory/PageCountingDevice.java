// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.UnsupportedDevice;

/**
 * A model of the kernel's accounting: counts every page that a region touches, from before its
 * registration until after its close. Independent of the budget. Safe for any thread.
 */
final class PageCountingDevice extends UnsupportedDevice implements ProtectionDomain {
  static final long PAGE = 4_096;
  private final AtomicLong nextAddress = new AtomicLong(1 << 20);
  private final AtomicLong pages = new AtomicLong();
  private final AtomicLong maxPages = new AtomicLong();

  long pages() {
    return pages.get();
  }

  /** Maximum number of pages pinned at the same time. */
  long maxPages() {
    return maxPages.get();
  }

  /** Pins a range as a registration does. */
  MemoryRegion pin(long address, long lengthBytes, Set<AccessFlag> access) {
    return new Region(address, lengthBytes, access);
  }

  @Override
  public HostMemory allocate(long lengthBytes) {
    long whole = (lengthBytes + PAGE - 1) / PAGE * PAGE;
    return new Memory(nextAddress.getAndAdd(whole + PAGE), lengthBytes);
  }

  @Override
  public MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access) {
    return pin(memory.address() + offset, lengthBytes, access);
  }

  @Override
  public MemoryRegion registerFile(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return this;
  }

  @Override
  public void close() {}

  /** Memory with an address and a length but no content. */
  private record Memory(long address, long lengthBytes) implements HostMemory {
    @Override
    public ByteBuffer slice(long offset, int length) {
      return ByteBuffer.allocate(0).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() {}
  }

  private final class Region implements MemoryRegion {
    private final long address;
    private final long lengthBytes;
    private final Set<AccessFlag> access;
    private final long touched;
    private final AtomicBoolean closed = new AtomicBoolean();

    Region(long address, long lengthBytes, Set<AccessFlag> access) {
      this.address = address;
      this.lengthBytes = lengthBytes;
      this.access = access;
      this.touched = (address + lengthBytes - 1) / PAGE - address / PAGE + 1;
      long now = pages.addAndGet(touched);
      maxPages.accumulateAndGet(now, Math::max);
    }

    @Override
    public long address() {
      return address;
    }

    @Override
    public long lengthBytes() {
      return lengthBytes;
    }

    @Override
    public Set<AccessFlag> access() {
      return access;
    }

    @Override
    public RemoteRegion remote() {
      return new RemoteRegion(address, lengthBytes, 1);
    }

    @Override
    public void close() {
      if (closed.compareAndSet(false, true)) {
        pages.addAndGet(-touched);
      }
    }
  }
}
