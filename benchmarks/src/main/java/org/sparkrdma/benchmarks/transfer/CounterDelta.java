// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkEnv;
import org.sparkrdma.shuffle.RdmaShuffleManager;

/** Growth of this executor's counters of the plug-in since the construction. */
public final class CounterDelta {
  private final RdmaShuffleManager manager;
  private final Map<String, Long> before;

  /** Begins at the counters as they are. */
  public CounterDelta(SparkEnv env) {
    manager = (RdmaShuffleManager) env.shuffleManager();
    before = manager.counters();
  }

  /** The growth until now, without counters that did not change. */
  public Map<String, Long> now() {
    Map<String, Long> delta = new TreeMap<>();
    manager
        .counters()
        .forEach(
            (label, value) -> {
              long grown = value - before.getOrDefault(label, 0L);
              if (grown != 0) {
                delta.put(label, grown);
              }
            });
    return delta;
  }
}
