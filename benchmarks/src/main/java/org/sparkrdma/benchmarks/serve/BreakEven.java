// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.serve;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.launch.Quartiles;

/**
 * The number of bytes whose copy takes as long as registering a window.
 *
 * <p>The serving side copies until the copies have cost that much, then registers. The total is at
 * most twice the optimum.
 */
final class BreakEven {
  private final TreeMap<Integer, Double> copyNs = new TreeMap<>();
  private final Map<Integer, Double> registerNs = new TreeMap<>();

  /**
   * @param measured pairs by length in bytes, at least one pair for each length
   */
  BreakEven(Map<Integer, List<CostPair>> measured) {
    measured.forEach(
        (length, pairs) -> {
          copyNs.put(length, Quartiles.of(pairs, CostPair::copyNs).median());
          registerNs.put(length, Quartiles.of(pairs, CostPair::registerNs).median());
        });
  }

  /**
   * Bytes whose copy takes as long as registering and deregistering a window of this length; 0 when
   * every copy takes longer, the window's length when none does.
   */
  long bytes(int windowBytes) {
    double cost = registerNs.get(windowBytes);
    int below = 0;
    double belowNs = 0;
    for (var entry : copyNs.headMap(windowBytes, true).entrySet()) {
      int length = entry.getKey();
      double ns = entry.getValue();
      if (ns >= cost) {
        if (below == 0) {
          return 0;
        }
        double part = ns == belowNs ? 0 : (cost - belowNs) / (ns - belowNs);
        return below + (long) (Math.max(0, part) * (length - below));
      }
      below = length;
      belowNs = ns;
    }
    return windowBytes;
  }
}
