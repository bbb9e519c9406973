// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Time for which the threads of this process were ready to run and had no processor, from the files
 * of the kernel. On a busy machine a thread that computes waits for much longer than one that only
 * wakes up, as that of {@link PauseMeter} does. Immutable.
 */
final class ProcessorWaits {
  /** {@code USER_HZ} is 100 on all processors that Java runs on. */
  private static final long TICK_MS = 10;

  /** Index of the time that the hypervisor has taken, in the first line of {@code /proc/stat}. */
  private static final int STOLEN = 8;

  /** Index of the time without a processor in {@code schedstat}. */
  private static final int WAITED = 1;

  private final Map<String, Long> waitedNs;
  private final long stolenMs;

  private ProcessorWaits(Map<String, Long> waitedNs, long stolenMs) {
    this.waitedNs = waitedNs;
    this.stolenMs = stolenMs;
  }

  /** The times of this process so far. */
  static ProcessorWaits now() {
    return read(Path.of("/proc"));
  }

  /** The times so far; a kernel that does not count them gives none. */
  static ProcessorWaits read(Path proc) {
    Map<String, Long> waitedNs = new HashMap<>();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(proc.resolve("self/task"))) {
      for (Path thread : threads) {
        addThread(thread, waitedNs);
      }
    } catch (IOException | DirectoryIteratorException e) {
      // The threads that were read count.
    }
    return new ProcessorWaits(waitedNs, stolenMs(proc.resolve("stat")));
  }

  private static void addThread(Path thread, Map<String, Long> waitedNs) {
    try {
      if (!isCompiler(Files.readString(thread.resolve("comm")))) {
        String[] times = Files.readString(thread.resolve("schedstat")).strip().split(" ", -1);
        waitedNs.put(thread.getFileName().toString(), Long.parseLong(times[WAITED]));
      }
    } catch (IOException e) {
      // It has ended, or the kernel does not count.
    }
  }

  /** No other thread waits for the compilers of the JVM. */
  private static boolean isCompiler(String name) {
    return name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler");
  }

  private static long stolenMs(Path stat) {
    try {
      String[] all = Files.readString(stat).lines().findFirst().orElse("").split(" +", -1);
      return all.length > STOLEN ? Long.parseLong(all[STOLEN]) * TICK_MS : 0;
    } catch (IOException e) {
      return 0;
    }
  }

  /** Waits of all threads together since an earlier time, and what the hypervisor has taken. */
  long msSince(ProcessorWaits earlier) {
    long sumNs = 0;
    for (Map.Entry<String, Long> thread : waitedNs.entrySet()) {
      // The kernel may have given the id of a thread that has ended to another one.
      sumNs += Math.max(0, thread.getValue() - earlier.waitedNs.getOrDefault(thread.getKey(), 0L));
    }
    return TimeUnit.NANOSECONDS.toMillis(sumNs) + stolenMs - earlier.stolenMs;
  }
}
