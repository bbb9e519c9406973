// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.engine.EngineRegion;
import org.sparkrdma.verbs.engine.RegionAccess;
import org.sparkrdma.verbs.soft.shared.LinkedFile;
import org.sparkrdma.verbs.soft.shared.RegionEntry;
import org.sparkrdma.verbs.soft.shared.SharedTable;

/**
 * A region and its entry in the shared table. Safe for any thread; {@link #view} and {@link
 * #channel} need the lock of the device.
 */
final class SoftRegion extends EngineRegion {
  private final SoftContext context;
  private final SoftMemory memory;
  private final LinkedFile file;
  private final long fileOffset;
  private final AtomicInteger localUses = new AtomicInteger();

  private SoftRegion(
      SoftProtectionDomain domain,
      SoftContext context,
      SoftMemory memory,
      LinkedFile file,
      long fileOffset,
      RemoteRegion remote,
      Set<AccessFlag> access) {
    super(domain, memory, remote, access);
    this.context = context;
    this.memory = memory;
    this.file = file;
    this.fileOffset = fileOffset;
  }

  /** Publishes a region over memory under that key. */
  static SoftRegion ofMemory(
      SoftProtectionDomain domain,
      SoftContext context,
      int key,
      SoftMemory memory,
      long offset,
      long lengthBytes,
      Set<AccessFlag> access) {
    var remote = RemoteRegion.ofKey32(memory.address() + offset, lengthBytes, key);
    var region = new SoftRegion(domain, context, memory, null, offset, remote, access);
    region.publish(domain.id(), memory.fileId());
    return region;
  }

  /** Publishes a region over a file under that key; takes over the link. */
  static SoftRegion ofFile(
      SoftProtectionDomain domain,
      SoftContext context,
      int key,
      LinkedFile file,
      long offset,
      long lengthBytes,
      Set<AccessFlag> access) {
    long address = context.addresses().take(lengthBytes);
    var remote = RemoteRegion.ofKey32(address, lengthBytes, key);
    var region = new SoftRegion(domain, context, null, file, offset, remote, access);
    region.publish(domain.id(), file.fileId());
    return region;
  }

  private void publish(int domainId, long fileId) {
    int key = remote().remoteKey32();
    var entry =
        new RegionEntry(
            address(), lengthBytes(), fileOffset, fileId, domainId, RegionAccess.bits(access()));
    context.table().publishRegion(SharedTable.regionIndex(key), key, entry);
  }

  long fileOffset() {
    return fileOffset;
  }

  /** A posted request uses it as local memory. */
  void retainLocal() {
    localUses.incrementAndGet();
  }

  /** The request is complete. */
  void releaseLocal() {
    localUses.decrementAndGet();
  }

  /** A view of its memory, see {@link org.sparkrdma.verbs.soft.shared.MappedWindows#view}. */
  ByteBuffer view(boolean copies, long offset, int length) {
    return memory.view(copies, fileOffset + offset, length);
  }

  /** A view for the posting thread, to copy inline data from; not of a file. */
  ByteBuffer ownerView(long offset, int length) {
    return memory.slice(fileOffset + offset, length);
  }

  /** The file under it, which is sent; not of memory. */
  FileChannel channel() throws IOException {
    return file.channel();
  }

  @Override
  protected void deregister() {
    int key = remote().remoteKey32();
    context.table().retireRegion(SharedTable.regionIndex(key));
    context.regionKeys().release(key);
    if (localUses.get() > 0) {
      // Waits for a copy in progress; one that begins later finds the region closed.
      context.loop().call(() -> {});
    }
    if (file != null) {
      context.links().release(file);
    }
  }
}
