// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.TransportType;

/**
 * Memory and one protection domain without a device: fails on request, counts what is open, with
 * registered memory in whole pages, and reads like a peer: only registered memory, with the right
 * key. Every region has unique addresses and a unique key. Safe for any thread.
 */
public final class StubDevice extends UnsupportedDevice implements ProtectionDomain {
  public static final long PAGE = 4096;

  private static final DeviceInfo INFO =
      new DeviceInfo(
          "stub0",
          "stub",
          TransportType.LOOPBACK,
          1,
          new DeviceLimits(1, 1, 1, 1, 1, 1_000, Long.MAX_VALUE, 1, 1, 0, 1),
          EnumSet.allOf(Capability.class),
          List.of());

  private final Map<Integer, Region> regions = new HashMap<>();
  private long nextAddress = 1L << 40;
  private int nextKey = 7;
  private long registeredBytes;
  private long maxRegisteredBytes;
  private boolean refusesMemory;
  private boolean refusesRegions;
  private VerbsException refusalOfFiles;
  private boolean throwsOnRegister;
  private boolean throwsOnFree;
  private Runnable duringRegistration = () -> {};
  private Runnable duringFile = () -> {};
  private ByteBuffer shared;
  private int maxRegions = Integer.MAX_VALUE;
  private int memoriesOpen;
  private int registrations;
  private int refusals;
  private int fileCalls;

  /** All memory is the same: for tests of its amount. */
  public void shareMemory(int lengthBytes) {
    shared = ByteBuffer.allocateDirect(lengthBytes);
  }

  public void refuseMemory(boolean refuse) {
    refusesMemory = refuse;
  }

  /** Sets whether registration of memory is refused. */
  public void refuseRegions(boolean refuse) {
    refusesRegions = refuse;
  }

  /** Sets whether registration of files is refused. */
  public void refuseFiles(boolean refuse) {
    refuseFiles(refuse ? new VerbsException("ibv_reg_mr", "refused by the test") : null);
  }

  /** Refuses files in this way from now on; null for not at all. */
  public void refuseFiles(VerbsException failure) {
    refusalOfFiles = failure;
  }

  /** Runs this during the next registration of a file. */
  public void onNextFile(Runnable during) {
    duringFile = during;
  }

  /** Runs this during the next registration of memory. */
  public void onNextRegistration(Runnable during) {
    duringRegistration = during;
  }

  /** The device has no room for more regions of files than this. */
  public void maxRegions(int count) {
    maxRegions = count;
  }

  /** Makes each registration of memory throw an undeclared exception. */
  public void throwOnRegister() {
    throwsOnRegister = true;
  }

  /** Makes the next memory that is freed throw an undeclared exception afterwards. */
  public void throwOnNextFree() {
    throwsOnFree = true;
  }

  public synchronized int memoriesOpen() {
    return memoriesOpen;
  }

  /** Number of registered regions. */
  public synchronized int regionCount() {
    return regions.size();
  }

  /** Number of registrations so far. */
  public synchronized int registrations() {
    return registrations;
  }

  /** Number of allocations, and registrations of memory, that it has refused. */
  public synchronized int refusals() {
    return refusals;
  }

  /** Number of registered regions of files. */
  public synchronized int fileCount() {
    return (int) regions.values().stream().filter(region -> region.memory == null).count();
  }

  /** Number of attempts to register a file. */
  public synchronized int fileCalls() {
    return fileCalls;
  }

  /** The most bytes that were registered at a time, in whole pages. */
  public synchronized long maxRegisteredBytes() {
    return maxRegisteredBytes;
  }

  /** Reads like a READ of a peer. */
  public synchronized byte[] read(long address, int key, int lengthBytes) throws IOException {
    Region region = regions.get(key);
    if (region == null
        || lengthBytes <= 0
        || address < region.address()
        || address + lengthBytes > region.address() + region.lengthBytes()) {
      throw new IOException("remote access error: address=" + address + " length=" + lengthBytes);
    }
    byte[] bytes = new byte[lengthBytes];
    long at = region.offset + address - region.address();
    if (region.memory != null) {
      region.memory.slice(at, lengthBytes).get(bytes);
      return bytes;
    }
    ByteBuffer target = ByteBuffer.wrap(bytes);
    while (target.hasRemaining()) {
      if (region.channel.read(target, at + target.position()) < 0) {
        throw new IOException("file ended");
      }
    }
    return bytes;
  }

  @Override
  public DeviceInfo info() {
    return INFO;
  }

  @Override
  public synchronized HostMemory allocate(long lengthBytes) throws VerbsException {
    if (refusesMemory) {
      refusals++;
      throw new VerbsException("mmap", "refused by the test");
    }
    memoriesOpen++;
    return new Memory(
        shared == null ? ByteBuffer.allocateDirect(Math.toIntExact(lengthBytes)) : shared);
  }

  @Override
  public synchronized MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    if (throwsOnRegister) {
      throw new IllegalStateException("thrown by the test");
    }
    if (refusesRegions) {
      refusals++;
      throw new VerbsException("ibv_reg_mr", "refused by the test");
    }
    Runnable during = duringRegistration;
    duringRegistration = () -> {};
    during.run();
    return add(new Region(memory, null, offset, lengthBytes, access));
  }

  @Override
  public synchronized MemoryRegion registerFile(
      Path file, long offset, long lengthBytes, Set<AccessFlag> access) throws VerbsException {
    fileCalls++;
    Runnable during = duringFile;
    duringFile = () -> {};
    during.run();
    if (refusalOfFiles != null) {
      throw refusalOfFiles;
    }
    if (regions.size() >= maxRegions) {
      throw new VerbsException("ibv_reg_mr", 12, "no room", null);
    }
    if (!access.contains(AccessFlag.REMOTE_READ) || access.contains(AccessFlag.LOCAL_WRITE)) {
      throw new IllegalArgumentException("access=" + access);
    }
    try {
      if (offset + lengthBytes > Files.size(file)) {
        throw new VerbsException("ibv_reg_mr", "file too short");
      }
      FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
      return add(new Region(null, channel, offset, lengthBytes, access));
    } catch (IOException e) {
      throw new VerbsException("open", "cannot open", e);
    }
  }

  private Region add(Region region) {
    regions.put(region.remote().remoteKey32(), region);
    registrations++;
    registeredBytes += region.pinnedBytes();
    maxRegisteredBytes = Math.max(maxRegisteredBytes, registeredBytes);
    return region;
  }

  private synchronized void remove(Region region) {
    if (regions.remove(region.remote().remoteKey32()) == null) {
      throw new IllegalStateException("closed twice");
    }
    registeredBytes -= region.pinnedBytes();
  }

  private synchronized void remove(Memory memory) {
    if (regions.values().stream().anyMatch(region -> region.memory == memory)) {
      throw new IllegalStateException("memory is registered");
    }
    memoriesOpen -= memory.closed ? 0 : 1;
    memory.closed = true;
    if (throwsOnFree) {
      throwsOnFree = false;
      throw new IllegalStateException("thrown by the test");
    }
  }

  @Override
  public void close() {
    if (regionCount() > 0) {
      throw new IllegalStateException("regions=" + regionCount());
    }
  }

  private final class Memory implements HostMemory {
    private final ByteBuffer bytes;
    private boolean closed;

    Memory(ByteBuffer bytes) {
      this.bytes = bytes;
    }

    @Override
    public long address() {
      return 0;
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
      int at =
          bytes == shared ? (int) (offset % (bytes.capacity() - lengthBytes + 1)) : (int) offset;
      return bytes.slice(at, lengthBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() {
      remove(this);
    }
  }

  private final class Region extends PlainRegion {
    private final HostMemory memory;
    private final FileChannel channel;
    private final long offset;

    Region(
        HostMemory memory,
        FileChannel channel,
        long offset,
        long lengthBytes,
        Set<AccessFlag> access) {
      super(new RemoteRegion(nextAddress, lengthBytes, nextKey), access);
      this.memory = memory;
      this.channel = channel;
      this.offset = offset;
      nextAddress += lengthBytes + PAGE;
      nextKey += 13;
    }

    long pinnedBytes() {
      return access().contains(AccessFlag.ON_DEMAND) ? 0 : (lengthBytes() + PAGE - 1) & -PAGE;
    }

    @Override
    public void close() {
      remove(this);
      if (channel != null) {
        try {
          channel.close();
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
      }
    }
  }
}
