// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.PlainRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.VerbsException;

/**
 * Registers without a device, counts registered memory in whole pages, and reads like a peer: only
 * registered memory, with the right key. Every region has unique addresses and a unique key. For
 * one thread.
 */
final class FakeDomain implements ProtectionDomain {
  static final long PAGE = 4096;

  private final Map<Integer, FakeRegion> regions = new HashMap<>();
  private long nextAddress = 1L << 40;
  private int nextKey = 7;
  private long registeredBytes;
  private long maxRegisteredBytes;
  private boolean refusesFiles;
  private int maxRegions = Integer.MAX_VALUE;
  private int fileCalls;

  /** Sets whether registration of files is refused. */
  void refuseFiles(boolean refuse) {
    refusesFiles = refuse;
  }

  /** The device has no room for more regions than this. */
  void maxRegions(int count) {
    maxRegions = count;
  }

  /** Number of attempts to register a file. */
  int fileCalls() {
    return fileCalls;
  }

  /** Number of registered regions. */
  int regionCount() {
    return regions.size();
  }

  /** The most bytes that were registered at a time, in whole pages. */
  long maxRegisteredBytes() {
    return maxRegisteredBytes;
  }

  /** Whether a READ would succeed. */
  boolean isReadable(long address, int key, int lengthBytes) {
    FakeRegion region = regions.get(key);
    return region != null
        && lengthBytes > 0
        && address >= region.address()
        && address + lengthBytes <= region.address() + region.lengthBytes();
  }

  /** Reads like a READ of a peer. */
  byte[] read(long address, int key, int lengthBytes) throws IOException {
    if (!isReadable(address, key, lengthBytes)) {
      throw new IOException("remote access error: address=" + address + " length=" + lengthBytes);
    }
    FakeRegion region = regions.get(key);
    byte[] bytes = new byte[lengthBytes];
    long at = address - region.address();
    if (region.memory != null) {
      region.memory.slice(region.offset + at, lengthBytes).get(bytes);
      return bytes;
    }
    ByteBuffer target = ByteBuffer.wrap(bytes);
    while (target.hasRemaining()) {
      if (region.channel.read(target, region.offset + at + target.position()) < 0) {
        throw new IOException("file ended");
      }
    }
    return bytes;
  }

  @Override
  public MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access) {
    return add(new FakeRegion(memory, null, offset, lengthBytes, access));
  }

  @Override
  public MemoryRegion registerFile(Path file, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    fileCalls++;
    if (refusesFiles) {
      throw new VerbsException("ibv_reg_mr", "refused by the test");
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
      return add(new FakeRegion(null, channel, offset, lengthBytes, access));
    } catch (IOException e) {
      throw new VerbsException("open", "cannot open", e);
    }
  }

  private FakeRegion add(FakeRegion region) {
    regions.put(region.remote().remoteKey32(), region);
    registeredBytes += region.pinnedBytes();
    maxRegisteredBytes = Math.max(maxRegisteredBytes, registeredBytes);
    return region;
  }

  private void remove(FakeRegion region) {
    if (regions.remove(region.remote().remoteKey32()) == null) {
      throw new IllegalStateException("closed twice");
    }
    registeredBytes -= region.pinnedBytes();
  }

  @Override
  public void close() {
    if (!regions.isEmpty()) {
      throw new IllegalStateException("regions=" + regions.size());
    }
  }

  private final class FakeRegion extends PlainRegion {
    private final HostMemory memory;
    private final FileChannel channel;
    private final long offset;

    FakeRegion(
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
