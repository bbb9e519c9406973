// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.PlainRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.UnsupportedDevice;
import org.sparkrdma.verbs.VerbsException;

/** Allocates and registers memory, fails either on request, and counts open objects. */
final class MemoryOnlyDevice extends UnsupportedDevice {
  private static final int PAGE_GAP = 4096;

  private final Domain domain = new Domain();
  private boolean refusesMemory;
  private boolean refusesRegions;
  private boolean throwsOnRegister;
  private boolean throwsOnFree;
  private int memoriesOpen;
  private int regionsOpen;
  private int registrations;
  private int refusals;
  private long nextAddress = 1 << 20;

  void refuseMemory(boolean refuse) {
    refusesMemory = refuse;
  }

  void refuseRegions(boolean refuse) {
    refusesRegions = refuse;
  }

  /** Makes each registration throw an undeclared exception. */
  void throwOnRegister() {
    throwsOnRegister = true;
  }

  /** Makes the next memory that is freed throw an undeclared exception afterwards. */
  void throwOnNextFree() {
    throwsOnFree = true;
  }

  int memoriesOpen() {
    return memoriesOpen;
  }

  int regionsOpen() {
    return regionsOpen;
  }

  /** Number of allocations and registrations that it has refused. */
  int refusals() {
    return refusals;
  }

  /** Number of registrations so far. */
  int registrations() {
    return registrations;
  }

  ProtectionDomain domain() {
    return domain;
  }

  @Override
  public HostMemory allocate(long lengthBytes) throws VerbsException {
    if (refusesMemory) {
      refusals++;
      throw new VerbsException("mmap", "refused by the test");
    }
    return new Memory(Math.toIntExact(lengthBytes));
  }

  private final class Domain implements ProtectionDomain {
    @Override
    public MemoryRegion register(
        HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
        throws VerbsException {
      if (throwsOnRegister) {
        throw new IllegalStateException("thrown by the test");
      }
      if (refusesRegions) {
        refusals++;
        throw new VerbsException("ibv_reg_mr", "refused by the test");
      }
      return new Region((Memory) memory, memory.address() + offset, lengthBytes, access);
    }

    @Override
    public MemoryRegion registerFile(
        Path file, long offset, long lengthBytes, Set<AccessFlag> access) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }

  private final class Memory implements HostMemory {
    private final ByteBuffer bytes;
    private final long address = nextAddress;
    private int regions;
    private boolean closed;

    Memory(int lengthBytes) {
      bytes = ByteBuffer.allocateDirect(lengthBytes);
      nextAddress += lengthBytes + PAGE_GAP;
      memoriesOpen++;
    }

    @Override
    public long address() {
      return address;
    }

    @Override
    public long lengthBytes() {
      return bytes.capacity();
    }

    @Override
    public ByteBuffer slice(long offset, int lengthBytes) {
      if (closed) {
        throw new IllegalStateException("closed");
      }
      return bytes.slice((int) offset, lengthBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() {
      if (regions > 0) {
        throw new IllegalStateException("regions=" + regions);
      }
      if (!closed) {
        closed = true;
        memoriesOpen--;
      }
      if (throwsOnFree) {
        throwsOnFree = false;
        throw new IllegalStateException("thrown by the test");
      }
    }
  }

  private final class Region extends PlainRegion {
    private final Memory memory;
    private boolean closed;

    Region(Memory memory, long address, long lengthBytes, Set<AccessFlag> access) {
      super(new RemoteRegion(address, lengthBytes, 1), access);
      this.memory = memory;
      memory.regions++;
      regionsOpen++;
      registrations++;
    }

    @Override
    public void close() {
      if (!closed) {
        closed = true;
        memory.regions--;
        regionsOpen--;
      }
    }
  }
}
