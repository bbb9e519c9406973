// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.io.IOException;
import java.io.Serializable;
import java.util.Map;
import org.sparkrdma.benchmarks.transfer.ProcessCpu;

/**
 * Cost of one executor while blocks were fetched.
 *
 * @param processNs CPU time of all threads of its process
 * @param threads cost of its Java threads
 */
public record SideCost(long processNs, Map<ThreadRole, ThreadCost> threads)
    implements Serializable {
  /** Cost since {@link #begin}. */
  public interface Meter {
    SideCost end() throws IOException;
  }

  public static Meter begin() throws IOException {
    long pid = ProcessHandle.current().pid();
    ProcessCpu cpu = ProcessCpu.of(pid);
    ThreadCosts threads = ThreadCosts.now();
    return () -> {
      Map<ThreadRole, ThreadCost> grown = ThreadCosts.now().since(threads);
      return new SideCost(ProcessCpu.of(pid).nsSince(cpu), grown);
    };
  }

  ThreadCost of(ThreadRole role) {
    return threads.getOrDefault(role, ThreadCost.NONE);
  }

  /** CPU time without the thread that stands for the device; collector and compiler included. */
  long cpuNs() {
    return processNs - of(ThreadRole.DEVICE).cpuNs();
  }

  /** {@link #cpuNs} without all threads of the plug-in: they have timers of their own. */
  long cpuNsWithoutPlugin() {
    long pluginNs = 0;
    for (Map.Entry<ThreadRole, ThreadCost> thread : threads.entrySet()) {
      pluginNs += thread.getKey().isOfPlugin() ? thread.getValue().cpuNs() : 0;
    }
    return cpuNs() - pluginNs;
  }

  /** CPU time of the JVM's own threads: collector and compiler. */
  long jvmNs() {
    return processNs - threads.values().stream().mapToLong(ThreadCost::cpuNs).sum();
  }

  /**
   * Bytes that the tasks and the plug-in allocated, without the thread that stands for the device.
   */
  public long fetchBytes() {
    return threads.entrySet().stream()
        .filter(thread -> thread.getKey() == ThreadRole.TASK || thread.getKey().isOfPlugin())
        .mapToLong(thread -> thread.getValue().allocatedBytes())
        .sum();
  }

  /** Bytes allocated on the heap, without the thread that stands for the device. */
  long allocatedBytes() {
    return threads.values().stream().mapToLong(ThreadCost::allocatedBytes).sum()
        - of(ThreadRole.DEVICE).allocatedBytes();
  }
}
