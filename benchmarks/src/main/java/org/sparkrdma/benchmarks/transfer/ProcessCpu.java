// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * CPU time of all threads of a process at one time, in nanoseconds.
 *
 * <p>Taken from {@code /proc/PID/task/TID/schedstat}: the more usual {@code /proc/PID/stat} counts
 * in steps of 10 ms, which is more than a server of one-sided reads uses in a whole round. CPU time
 * of threads that end between two samples is lost; the threads that move blocks do not end.
 *
 * @see <a href="https://docs.kernel.org/scheduler/sched-stats.html">sched-stats</a>
 */
record ProcessCpu(Map<Path, Long> nsByThread) {
  /** The CPU time until now. */
  static ProcessCpu of(long pid) throws IOException {
    return read(Path.of("/proc", Long.toString(pid), "task"));
  }

  static ProcessCpu read(Path tasks) throws IOException {
    Map<Path, Long> nsByThread = new HashMap<>();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        try {
          String line = Files.readString(thread.resolve("schedstat"));
          nsByThread.put(thread, Long.parseLong(line.substring(0, line.indexOf(' '))));
        } catch (NoSuchFileException e) {
          // The thread has ended since the directory was read.
        }
      }
    }
    if (nsByThread.isEmpty()) {
      throw new IOException("this kernel has no schedstat in " + tasks);
    }
    return new ProcessCpu(nsByThread);
  }

  long since(ProcessCpu earlier) {
    return nsByThread.entrySet().stream()
        .mapToLong(
            thread -> thread.getValue() - earlier.nsByThread.getOrDefault(thread.getKey(), 0L))
        .sum();
  }
}
