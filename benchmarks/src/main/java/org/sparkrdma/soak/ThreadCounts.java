// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Numbers of threads of a process, by their names in the kernel: the first 15 characters of Java's
 * names.
 *
 * @param storage threads of the pool in which Spark's executor deletes blocks and shuffles
 * @param others all other threads
 */
record ThreadCounts(int storage, int others) {
  /**
   * The kernel's name of block-manager-storage-async-thread-pool-…; no other name begins with it.
   */
  private static final String STORAGE_POOL = "block-manager-s";

  /**
   * Counts the threads of a process.
   *
   * @param tasks the directory task of the process in /proc
   * @throws IOException when the process has ended
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
