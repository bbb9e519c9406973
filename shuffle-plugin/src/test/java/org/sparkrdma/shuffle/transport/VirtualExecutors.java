// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.VerbsException;

/** Executors of one fabric, with one sparse file that stands for all their map outputs. */
final class VirtualExecutors implements AutoCloseable {
  private final List<VirtualExecutor> executors = new ArrayList<>();

  /**
   * Starts executors with the numbers from 0.
   *
   * @param pinnedBytes {@code pinned.max} of each
   * @param connections {@code connections.max} of each
   * @param partitions of each map output
   * @param blockBytes length of each partition
   */
  VirtualExecutors(
      VirtualFabric fabric,
      Path directory,
      int count,
      long pinnedBytes,
      int connections,
      int partitions,
      int blockBytes)
      throws IOException, VerbsException {
    Path file = directory.resolve("outputs.data");
    try (RandomAccessFile outputs = new RandomAccessFile(file.toFile(), "rw")) {
      outputs.setLength((long) partitions * blockBytes);
    }
    for (int number = 0; number < count; number++) {
      executors.add(
          new VirtualExecutor(
              fabric, number, pinnedBytes, connections, file, partitions, blockBytes));
    }
  }

  VirtualExecutor get(int number) {
    return executors.get(number);
  }

  List<VirtualExecutor> all() {
    return List.copyOf(executors);
  }

  @Override
  public void close() {
    executors.forEach(VirtualExecutor::close);
  }
}
