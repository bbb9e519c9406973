// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineDevice;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.soft.shared.MappedWindows;
import org.sparkrdma.verbs.soft.shared.PrivateFiles;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;

/**
 * Memory in a file of the shared directory, so that peers can reach it. Its address is a number
 * that only the engine gives meaning to. Safe for any thread.
 */
final class SoftMemory extends EngineMemory {
  private static final long FIRST_PAUSE_NS = 10_000_000;
  private static final long LAST_PAUSE_NS = 500_000_000;

  /** Whether memory of this process was closed that may still be mapped. */
  private static volatile boolean anyClosed;

  private final Path file;
  private final long fileId;

  /** Null once closed, so that the collector unmaps it after the last slice. */
  private volatile MappedWindows mapping;

  private SoftMemory(
      EngineDevice device,
      SoftContext context,
      Path file,
      long fileId,
      long lengthBytes,
      MappedWindows mapping) {
    super(device, context.addresses().take(lengthBytes), lengthBytes);
    this.file = file;
    this.fileId = fileId;
    this.mapping = mapping;
  }

  /**
   * Allocates memory. Closed memory is unmapped only when the collector has found that no slice of
   * it is reachable. So when there is too little memory and some was closed, this requests a
   * collection and waits a little before it fails.
   */
  static SoftMemory allocate(EngineDevice device, SoftContext context, long lengthBytes)
      throws VerbsException {
    try {
      return tryAllocate(device, context, lengthBytes);
    } catch (VerbsException e) {
      if (!anyClosed) {
        throw e;
      }
    }
    System.gc();
    for (long pauseNs = FIRST_PAUSE_NS; pauseNs < LAST_PAUSE_NS; pauseNs *= 2) {
      try {
        return tryAllocate(device, context, lengthBytes);
      } catch (VerbsException e) {
        LockSupport.parkNanos(pauseNs);
      }
    }
    return tryAllocate(device, context, lengthBytes);
  }

  private static SoftMemory tryAllocate(EngineDevice device, SoftContext context, long lengthBytes)
      throws VerbsException {
    long fileId = context.directory().newFileId();
    Path file = SharedDirectory.file(context.directory().path(), fileId);
    try (FileChannel channel = PrivateFiles.create(file)) {
      PrivateFiles.fillWithZeros(channel, lengthBytes);
      return new SoftMemory(
          device,
          context,
          file,
          fileId,
          lengthBytes,
          new MappedWindows(channel, file, lengthBytes));
    } catch (IOException e) {
      undo(file, e);
      throw new VerbsException(
          "allocate",
          VerbsException.ENOMEM,
          "allocate failed: " + e.getMessage() + " lengthBytes=" + lengthBytes + " file=" + file,
          e);
    }
  }

  private static void undo(Path file, Throwable cause) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  @Override
  protected ByteBuffer sliceWhileOpen(long offset, int length) {
    MappedWindows open = mapping;
    return open == null ? null : open.slice(offset, length);
  }

  long fileId() {
    return fileId;
  }

  /** See {@link MappedWindows#view}. */
  ByteBuffer view(boolean copies, long offset, int length) {
    return mapping.view(copies, offset, length);
  }

  @Override
  protected void free() {
    mapping = null;
    anyClosed = true;
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
