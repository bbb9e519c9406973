// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.Arrays;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.engine.EngineMemory;
import org.sparkrdma.verbs.soft.shared.PrivateFiles;
import org.sparkrdma.verbs.soft.shared.SharedDirectory;

/**
 * Memory in a file of the shared directory, so that peers can reach it. Its address is a number
 * that only the engine gives meaning to. Safe for any thread.
 *
 * <p>The file is mapped in windows of just under 2 GiB that begin every 1 GiB, so that any range of
 * up to 1 GiB lies in one of them. A longer range gets a mapping of its own. The collector unmaps
 * them when no slice is reachable any more.
 */
final class SoftMemory extends EngineMemory {
  private static final int STRIDE_SHIFT = 30;

  /** Whether memory of this process was closed since the last collection that was requested. */
  static volatile boolean anyClosed;

  private final Path file;
  private final long fileId;

  /** Null once closed, so that the collector unmaps it after the last slice. */
  private volatile ByteBuffer[] windows;

  /** The windows again, for {@link #view}; guarded by the lock of the device. */
  private final ByteBuffer[] views;

  private SoftMemory(
      SoftDevice device, Path file, long fileId, long lengthBytes, ByteBuffer[] windows) {
    super(device, device.takeAddresses(lengthBytes), lengthBytes);
    this.file = file;
    this.fileId = fileId;
    this.windows = windows;
    views = new ByteBuffer[windows.length];
    for (int i = 0; i < windows.length; i++) {
      views[i] = windows[i].duplicate();
    }
  }

  static SoftMemory allocate(SoftDevice device, long lengthBytes) throws VerbsException {
    long fileId = device.directory.newFileId();
    Path file = SharedDirectory.file(device.directory.path(), fileId);
    try (FileChannel channel = PrivateFiles.create(file)) {
      if (file.toFile().getTotalSpace() > 0 && file.toFile().getUsableSpace() < lengthBytes) {
        // Others would find no room, and this thread would write for long, until it is full.
        throw new IOException("No space left on device");
      }
      PrivateFiles.fillWithZeros(channel, lengthBytes);
      var windows = new ByteBuffer[(int) (((lengthBytes - 1) >>> STRIDE_SHIFT) + 1)];
      for (int i = 0; i < windows.length; i++) {
        long start = (long) i << STRIDE_SHIFT;
        windows[i] = map(channel, start, Math.min(Integer.MAX_VALUE, lengthBytes - start));
      }
      return new SoftMemory(device, file, fileId, lengthBytes, windows);
    } catch (IOException e) {
      PrivateFiles.delete(file);
      throw new VerbsException(
          "allocate",
          // A file that cannot be created or found is no want of memory.
          e instanceof FileSystemException ? VerbsException.NO_ERRNO : VerbsException.ENOMEM,
          "allocate failed: " + e.getMessage() + " lengthBytes=" + lengthBytes + " file=" + file,
          e);
    }
  }

  private static ByteBuffer map(FileChannel channel, long start, long lengthBytes)
      throws IOException {
    return channel.map(FileChannel.MapMode.READ_WRITE, start, lengthBytes);
  }

  @Override
  protected ByteBuffer sliceWhileOpen(long offset, int length) {
    ByteBuffer[] open = windows;
    if (open == null) {
      return null;
    }
    ByteBuffer window = open[(int) (offset >>> STRIDE_SHIFT)];
    int at = (int) (offset & ((1L << STRIDE_SHIFT) - 1));
    ByteBuffer slice =
        (long) at + length <= window.capacity()
            ? window.slice(at, length)
            : mapAgain(offset, length);
    return slice.order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The range crosses a window. No descriptor is kept for that. */
  private ByteBuffer mapAgain(long offset, int length) {
    try (FileChannel channel = PrivateFiles.open(file)) {
      return map(channel, offset, length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  long fileId() {
    return fileId;
  }

  /** A buffer over at most 1 GiB, without allocation. It is valid until the next call. */
  ByteBuffer view(long offset, int length) {
    ByteBuffer view = views[(int) (offset >>> STRIDE_SHIFT)];
    int at = (int) (offset & ((1L << STRIDE_SHIFT) - 1));
    return view.limit(at + length).position(at);
  }

  @Override
  protected void free() {
    windows = null;
    Arrays.fill(views, null);
    anyClosed = true;
    PrivateFiles.delete(file);
  }
}
