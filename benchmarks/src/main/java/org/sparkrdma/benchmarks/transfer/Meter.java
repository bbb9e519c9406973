// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkEnv;
import org.sparkrdma.shuffle.RdmaShuffleManager;

/** Costs of this executor since the construction, which {@link #end} returns. */
final class Meter {
  private static final Path TASKS = Path.of("/proc/self/task");
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final RdmaShuffleManager manager;
  private final Map<String, Long> countersBefore;
  private final ThreadCosts threadsBefore;
  private final ProcessCpu cpuBefore;
  private final long startNs;

  Meter(SparkEnv env) throws IOException {
    manager = (RdmaShuffleManager) env.shuffleManager();
    countersBefore = manager.counters();
    threadsBefore = ThreadCosts.now();
    cpuBefore = ProcessCpu.read(TASKS);
    startNs = System.nanoTime();
  }

  /**
   * The costs until now.
   *
   * @param work blocks that this executor has fetched meanwhile, or bytes that it has served
   */
  Round.Share end(Round.Engine engine, boolean server, Round.Work work) throws IOException {
    long ns = System.nanoTime() - startNs;
    long cpuNs = ProcessCpu.read(TASKS).since(cpuBefore);
    ThreadCosts threads = ThreadCosts.now();
    Map<String, Long> counters = new TreeMap<>(manager.counters());
    counters.replaceAll((name, value) -> value - countersBefore.getOrDefault(name, 0L));
    counters.values().removeIf(grown -> grown == 0);
    return new Round.Share(
        engine,
        server,
        work,
        ns,
        cpuNs,
        growth(threadsBefore.deviceCpuNs, threads.deviceCpuNs),
        growth(threadsBefore.allocatedBytes, threads.allocatedBytes),
        counters);
  }

  private static <K> long growth(Map<K, Long> earlier, Map<K, Long> later) {
    return later.entrySet().stream()
        .mapToLong(each -> each.getValue() - earlier.getOrDefault(each.getKey(), 0L))
        .sum();
  }

  /**
   * CPU time of all threads of a process at one time, in nanoseconds.
   *
   * <p>Taken from {@code /proc/PID/task/TID/schedstat}: the more usual {@code /proc/PID/stat}
   * counts in steps of 10 ms, which is more than a server of one-sided reads uses in a whole round.
   * CPU time of threads that end between two samples is lost; the threads that move blocks do not
   * end.
   *
   * @see <a href="https://docs.kernel.org/scheduler/sched-stats.html">sched-stats</a>
   */
  record ProcessCpu(Map<Path, Long> nsByThread) {
    /**
     * The CPU time until now.
     *
     * @param tasks directory of the process's threads in /proc
     */
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
        // A kernel without CONFIG_SCHED_INFO, as user-mode Linux: the coarse clock of this process.
        nsByThread.put(tasks, SYSTEM.getProcessCpuTime());
      }
      return new ProcessCpu(nsByThread);
    }

    long since(ProcessCpu earlier) {
      return growth(earlier.nsByThread, nsByThread);
    }
  }

  /**
   * Costs of this JVM's Java threads until one time, by the thread's id.
   *
   * @param deviceCpuNs CPU time of the loopback engine's thread, which is in the place of a device
   * @param allocatedBytes bytes that the other threads have allocated on the heap
   */
  private record ThreadCosts(Map<Long, Long> deviceCpuNs, Map<Long, Long> allocatedBytes) {
    private static final String DEVICE = "soft-rdma-";

    static ThreadCosts now() {
      ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      Map<Long, Long> deviceCpuNs = new HashMap<>();
      Map<Long, Long> allocatedBytes = new HashMap<>();
      for (ThreadInfo thread : bean.getThreadInfo(bean.getAllThreadIds())) {
        // A thread that has ended has no facts, or -1 for the figures.
        if (thread != null && thread.getThreadName().startsWith(DEVICE)) {
          deviceCpuNs.put(
              thread.getThreadId(), Math.max(0, bean.getThreadCpuTime(thread.getThreadId())));
        } else if (thread != null) {
          allocatedBytes.put(
              thread.getThreadId(),
              Math.max(0, bean.getThreadAllocatedBytes(thread.getThreadId())));
        }
      }
      return new ThreadCosts(deviceCpuNs, allocatedBytes);
    }
  }
}
