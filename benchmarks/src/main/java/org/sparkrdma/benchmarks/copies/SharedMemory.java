// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Touched memory of {@code /dev/shm}, as the loopback engine has it. Closed by its creator. */
final class SharedMemory implements AutoCloseable {
  private static final Path DIRECTORY = Path.of("/dev/shm");
  private static final int PAGE_BYTES = 4096;

  private final MappedByteBuffer bytes;

  SharedMemory(int lengthBytes) throws IOException {
    Path file = Files.createTempFile(DIRECTORY, "sparkrdma-copies", ".data");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      bytes = channel.map(MapMode.READ_WRITE, 0, lengthBytes);
    } finally {
      Files.delete(file);
    }
    for (int at = 0; at < lengthBytes; at += PAGE_BYTES) {
      bytes.put(at, (byte) 1);
    }
  }

  MappedByteBuffer bytes() {
    return bytes;
  }

  @Override
  public void close() {
    Unmapping.unmap(bytes);
  }
}
