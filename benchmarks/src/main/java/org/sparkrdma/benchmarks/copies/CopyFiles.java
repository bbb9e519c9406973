// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Files of one length with random content, which the page cache holds. Closed by its creator. */
final class CopyFiles implements AutoCloseable {
  private final List<Path> paths = new ArrayList<>();
  private final List<FileChannel> channels = new ArrayList<>();
  private final int fileBytes;
  private long sum;

  /**
   * @param directory in which they are created, and deleted by {@link #close}
   */
  CopyFiles(Path directory, int files, int fileBytes, Random random) throws IOException {
    this.fileBytes = fileBytes;
    byte[] content = new byte[fileBytes];
    try {
      for (int i = 0; i < files; i++) {
        random.nextBytes(content);
        sum += MemorySum.of(ByteBuffer.wrap(content));
        Path path = directory.resolve("copies-" + i + ".data");
        paths.add(path);
        Files.write(path, content, StandardOpenOption.CREATE_NEW);
        channels.add(FileChannel.open(path, StandardOpenOption.READ));
      }
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  int fileBytes() {
    return fileBytes;
  }

  /** {@link MemorySum} of all files. */
  long sum() {
    return sum;
  }

  FileChannel channel(int file) {
    return channels.get(file);
  }

  /** Maps each file as a whole, for reading. */
  List<MappedByteBuffer> map() throws IOException {
    List<MappedByteBuffer> mappings = new ArrayList<>();
    for (FileChannel channel : channels) {
      mappings.add(channel.map(MapMode.READ_ONLY, 0, fileBytes));
    }
    return mappings;
  }

  @Override
  public void close() throws IOException {
    for (FileChannel channel : channels) {
      channel.close();
    }
    for (Path path : paths) {
      Files.deleteIfExists(path);
    }
  }
}
