// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Measures of one executor's process at one time, from the kernel's counts.
 *
 * @param seconds since the soak began
 * @param executor the executor's id
 */
record Sample(double seconds, String executor, long pid, Map<Measure, Double> values) {
  private static final String EXECUTOR_ID = "--executor-id";

  /** Empty when the process has ended or is not an executor. */
  static Optional<Sample> take(long pid, double seconds, int heapMib) {
    return take(Path.of("/proc", Long.toString(pid)), pid, seconds, heapMib);
  }

  static Optional<Sample> take(Path process, long pid, double seconds, int heapMib) {
    try {
      Optional<String> executor = executorId(process);
      if (executor.isEmpty()) {
        return Optional.empty();
      }
      Map<Measure, Double> values = new EnumMap<>(Measure.class);
      values.put(Measure.NATIVE_MIB, ProcessStatus.of(process).mib("VmRSS") - heapMib);
      ThreadCounts threads = ThreadCounts.of(process.resolve("task"));
      values.put(Measure.THREADS, (double) threads.others());
      values.put(Measure.STORAGE_THREADS, (double) threads.storage());
      values.put(Measure.DESCRIPTORS, (double) entries(process.resolve("fd")));
      values.put(Measure.MAPPINGS, (double) lines(process.resolve("maps")));
      return Optional.of(new Sample(seconds, executor.get(), pid, values));
    } catch (IOException e) {
      // The process has ended.
      return Optional.empty();
    }
  }

  /**
   * Returns the id of the executor that a process is; empty when it is none.
   *
   * @param process directory of the process in /proc
   * @throws IOException when the process has ended
   */
  static Optional<String> executorId(Path process) throws IOException {
    byte[] line = Files.readAllBytes(process.resolve("cmdline"));
    List<String> words = List.of(new String(line, StandardCharsets.UTF_8).split("\0", -1));
    int key = words.indexOf(EXECUTOR_ID);
    return key < 0 || key + 1 >= words.size() ? Optional.empty() : Optional.of(words.get(key + 1));
  }

  private static int entries(Path directory) throws IOException {
    int count = 0;
    try (DirectoryStream<Path> open = Files.newDirectoryStream(directory)) {
      for (Path ignored : open) {
        count++;
      }
    }
    return count;
  }

  private static long lines(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
      return lines.count();
    }
  }
}
