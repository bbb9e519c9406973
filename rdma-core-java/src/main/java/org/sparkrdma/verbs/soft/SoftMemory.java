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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.soft.shared.Mapping;
import org.sparkrdma.verbs.soft.shared.Mappings;
import org.sparkrdma.verbs.soft.shared.PrivateFiles;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;

/**
 * Memory in a file of the shared directory, so that peers can reach it. Its address is a number
 * that only the engine gives meaning to. Safe for any thread.
 */
final class SoftMemory implements HostMemory {
  private static final int OUT_OF_MEMORY = 12;
  private static final long FIRST_PAUSE_NS = 10_000_000;
  private static final long LAST_PAUSE_NS = 500_000_000;

  private final SoftDevice device;
  private final Path file;
  private final long fileId;
  private final long address;
  private final long lengthBytes;
  private int regions;

  /** Null once closed, so that it goes with the last slice. */
  private volatile Mapping mapping;

  private SoftMemory(SoftDevice device, Path file, long fileId, long length, Mapping mapping) {
    this.device = device;
    this.file = file;
    this.fileId = fileId;
    this.lengthBytes = length;
    this.mapping = mapping;
    address = device.addresses().take(length);
  }

  /**
   * Allocates memory. Closed memory comes back only when the collector has seen that no slice of it
   * is reachable; so when there is not enough and some was closed, that is asked for and waited
   * for, a little, before giving up.
   */
  static SoftMemory allocate(SoftDevice device, long lengthBytes) throws VerbsException {
    try {
      return tryAllocate(device, lengthBytes);
    } catch (VerbsException e) {
      if (!device.hasClosedMemory()) {
        throw e;
      }
    }
    System.gc();
    for (long pauseNs = FIRST_PAUSE_NS; pauseNs < LAST_PAUSE_NS; pauseNs *= 2) {
      try {
        return tryAllocate(device, lengthBytes);
      } catch (VerbsException e) {
        LockSupport.parkNanos(pauseNs);
      }
    }
    return tryAllocate(device, lengthBytes);
  }

  private static SoftMemory tryAllocate(SoftDevice device, long lengthBytes) throws VerbsException {
    long fileId = device.directory().newFileId();
    Path file = SharedDirectory.file(device.directory().path(), fileId);
    FileChannel channel = null;
    try {
      channel = PrivateFiles.create(file);
      PrivateFiles.fillWithZeros(channel, lengthBytes);
      return new SoftMemory(device, file, fileId, lengthBytes, Mappings.of(channel, lengthBytes));
    } catch (IOException | OutOfMemoryError e) {
      undo(channel, file, e);
      throw new VerbsException(
          "allocate",
          OUT_OF_MEMORY,
          "allocate failed: " + e.getMessage() + " lengthBytes=" + lengthBytes + " file=" + file,
          e);
    }
  }

  private static void undo(FileChannel channel, Path file, Throwable cause) {
    try {
      if (channel != null) {
        channel.close();
      }
      Files.deleteIfExists(file);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
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
  public ByteBuffer slice(long offset, int length) {
    Objects.checkFromIndexSize(offset, length, lengthBytes);
    Mapping open = mapping;
    if (open == null) {
      throw new IllegalStateException("memory is closed");
    }
    return open.slice(offset, length);
  }

  SoftDevice device() {
    return device;
  }

  long fileId() {
    return fileId;
  }

  /** For the device thread, see {@link Mapping#view}. */
  ByteBuffer view(long offset, int length) {
    return mapping.view(offset, length);
  }

  synchronized void retain() {
    if (mapping == null) {
      throw new IllegalStateException("memory is closed");
    }
    regions++;
  }

  synchronized void release() {
    regions--;
  }

  @Override
  public synchronized void close() {
    Mapping open = mapping;
    if (open == null) {
      return;
    }
    if (regions > 0) {
      throw new IllegalStateException("memory has regions: regions=" + regions);
    }
    mapping = null;
    device.forget(this);
    try {
      open.close();
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
