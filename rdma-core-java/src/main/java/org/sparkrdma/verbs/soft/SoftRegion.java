/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.RemoteRegion;
import org.sparkrdma.verbs.soft.shared.AccessBits;
import org.sparkrdma.verbs.soft.shared.LinkedFile;
import org.sparkrdma.verbs.soft.shared.RegionEntry;

/**
 * A region over memory or over a file, and its entry in the shared table. Safe for any thread; the
 * device thread uses {@link #view} and {@link #channel}.
 */
final class SoftRegion implements MemoryRegion {
  private final SoftProtectionDomain domain;
  private final SoftMemory memory;
  private final LinkedFile file;
  private final long fileOffset;
  private final long address;
  private final long lengthBytes;
  private final Set<AccessFlag> access;
  private RemoteRegion remote;
  private int index = -1;
  private final AtomicInteger localUses = new AtomicInteger();
  private volatile boolean closed;

  /** Of memory; it is retained by the caller. */
  SoftRegion(
      SoftProtectionDomain domain,
      SoftMemory memory,
      long offset,
      long lengthBytes,
      Set<AccessFlag> access) {
    this(domain, memory, null, offset, memory.address() + offset, lengthBytes, access);
  }

  /** Of a file; it is acquired by the caller. */
  SoftRegion(
      SoftProtectionDomain domain,
      LinkedFile file,
      long offset,
      long address,
      long lengthBytes,
      Set<AccessFlag> access) {
    this(domain, null, file, offset, address, lengthBytes, access);
  }

  private SoftRegion(
      SoftProtectionDomain domain,
      SoftMemory memory,
      LinkedFile file,
      long fileOffset,
      long address,
      long lengthBytes,
      Set<AccessFlag> access) {
    this.domain = domain;
    this.memory = memory;
    this.file = file;
    this.fileOffset = fileOffset;
    this.address = address;
    this.lengthBytes = lengthBytes;
    this.access = Set.copyOf(access);
  }

  /** Called once by the table when it has an entry for it. */
  void onPublished(int newIndex, int key) {
    index = newIndex;
    remote = new RemoteRegion(address, lengthBytes, key);
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
    return remote;
  }

  SoftProtectionDomain domain() {
    return domain;
  }

  /** What the shared table says of it. */
  RegionEntry entry() {
    long fileId = memory != null ? memory.fileId() : file.fileId();
    return new RegionEntry(
        address, lengthBytes, fileOffset, fileId, domain.id(), AccessBits.of(access));
  }

  long fileOffset() {
    return fileOffset;
  }

  int index() {
    return index;
  }

  boolean isClosed() {
    return closed;
  }

  boolean isFile() {
    return file != null;
  }

  /** A posted request names it as local memory. */
  void retainLocal() {
    localUses.incrementAndGet();
  }

  /** The request is done. */
  void releaseLocal() {
    localUses.decrementAndGet();
  }

  boolean isLocallyWritable() {
    return access.contains(AccessFlag.LOCAL_WRITE);
  }

  /** A passing view of its memory, for the device thread; never of a file. */
  ByteBuffer view(long offset, int length) {
    return memory.view(fileOffset + offset, length);
  }

  /** A view for the posting thread, to copy inline data from; never of a file. */
  ByteBuffer ownerView(long offset, int length) {
    return memory.slice(fileOffset + offset, length);
  }

  /** The file behind it, for the device thread; never of memory. */
  FileChannel channel() throws IOException {
    return file.channel();
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    domain.device().regions().retire(this);
    if (localUses.get() > 0) {
      // The device thread may be in the middle of it; what begins later sees that it is closed.
      domain.device().thread().call(() -> {});
    }
    if (memory != null) {
      memory.release();
    } else {
      domain.device().links().release(file);
    }
    domain.onClosed(this);
  }
}
