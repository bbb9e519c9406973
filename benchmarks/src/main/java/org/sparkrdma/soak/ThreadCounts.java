// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * How many threads a process has, by the names that the kernel knows: the first 15 characters of
 * Java's.
 *
 * @param storage of the pool in which an executor of Spark deletes blocks and shuffles
 * @param others all that are not of that pool
 */
record ThreadCounts(int storage, int others) {
  /** The kernel's name of block-manager-storage-async-thread-pool-…; no other begins like that. */
  private static final String STORAGE_POOL = "block-manager-s";

  /**
   * Counts them.
   *
   * @param tasks the directory task of the process in /proc
   * @throws IOException when there is no such process any more
   */
  static ThreadCounts of(Path tasks) throws IOException {
    int storage = 0;
    int others = 0;
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        String name = name(thread);
        if (name.equals(STORAGE_POOL)) {
          storage++;
        } else if (!name.isEmpty()) {
          others++;
        }
      }
    }
    return new ThreadCounts(storage, others);
  }

  /** Empty when the thread has ended since it was listed. */
  private static String name(Path thread) throws IOException {
    try {
      return Files.readString(thread.resolve("comm"), StandardCharsets.ISO_8859_1).strip();
    } catch (NoSuchFileException e) {
      return "";
    }
  }
}
