// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkEnv;
import org.sparkrdma.shuffle.RdmaShuffleManager;

/** Costs of this executor since the construction, which {@link #end} returns. */
final class Meter {
  private final RdmaShuffleManager manager;
  private final Map<String, Long> countersBefore;
  private final ThreadCosts threadsBefore;
  private final CpuScope.Usage cpu;
  private final long startNs;

  Meter(SparkEnv env, CpuScope scope) throws IOException {
    manager = (RdmaShuffleManager) env.shuffleManager();
    countersBefore = manager.counters();
    threadsBefore = ThreadCosts.now();
    cpu = scope.begin();
    startNs = System.nanoTime();
  }

  /**
   * The costs until now.
   *
   * @param work blocks that this executor has fetched meanwhile, or bytes that it has served
   */
  Share end(TransferEngine engine, boolean server, Share.Work work) throws IOException {
    long ns = System.nanoTime() - startNs;
    long cpuNs = cpu.ns();
    ThreadCosts threads = ThreadCosts.now();
    Map<String, Long> counters = new TreeMap<>(manager.counters());
    counters.replaceAll((name, value) -> value - countersBefore.getOrDefault(name, 0L));
    counters.values().removeIf(grown -> grown == 0);
    return new Share(
        engine,
        server,
        work,
        ns,
        cpuNs,
        threads.deviceCpuNsSince(threadsBefore),
        threads.allocatedBytesSince(threadsBefore),
        counters);
  }
}
