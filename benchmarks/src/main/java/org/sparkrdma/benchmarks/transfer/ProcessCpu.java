// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * CPU time of all threads of a process at one time, in nanoseconds.
 *
 * <p>Taken from {@code /proc/PID/task/TID/schedstat}: the more usual {@code /proc/PID/stat} counts
 * in steps of 10 ms, which is more than a server of one-sided reads uses in a whole round. CPU time
 * of threads that end between two samples is lost; the threads that move blocks do not end.
 *
 * @param compilers those of the threads that are the JIT compiler's
 * @see <a href="https://docs.kernel.org/scheduler/sched-stats.html">sched-stats</a>
 */
record ProcessCpu(Map<String, Long> nsByThread, Set<String> compilers) {
  /** Names of HotSpot's compiler threads, as the kernel has them: it cuts them off. */
  private static final Pattern COMPILER = Pattern.compile("C[12] Compiler.*");

  /** The CPU time until now. */
  static ProcessCpu of(long pid) throws IOException {
    return read(Path.of("/proc", Long.toString(pid), "task"));
  }

  static ProcessCpu read(Path tasks) throws IOException {
    Map<String, Long> nsByThread = new HashMap<>();
    Set<String> compilers = new HashSet<>();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        Optional<Long> ns = nsOf(thread);
        if (ns.isPresent()) {
          String id = thread.getFileName().toString();
          nsByThread.put(id, ns.get());
          if (isCompiler(thread)) {
            compilers.add(id);
          }
        }
      }
    }
    if (nsByThread.isEmpty()) {
      throw new IOException("this kernel has no schedstat in " + tasks);
    }
    return new ProcessCpu(nsByThread, compilers);
  }

  /** Empty when the thread has ended since the directory was read. */
  private static Optional<Long> nsOf(Path thread) throws IOException {
    try {
      String line = Files.readString(thread.resolve("schedstat"));
      return Optional.of(Long.parseLong(line.substring(0, line.indexOf(' '))));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private static boolean isCompiler(Path thread) throws IOException {
    try {
      return COMPILER.matcher(Files.readString(thread.resolve("comm")).strip()).matches();
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  CpuTime since(ProcessCpu earlier) {
    long ns = 0;
    long compilerNs = 0;
    for (Map.Entry<String, Long> thread : nsByThread.entrySet()) {
      long grown = thread.getValue() - earlier.nsByThread().getOrDefault(thread.getKey(), 0L);
      ns += grown;
      compilerNs += compilers.contains(thread.getKey()) ? grown : 0;
    }
    return new CpuTime(ns, compilerNs);
  }
}
