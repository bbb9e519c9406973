// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import java.util.Locale;
import java.util.Map;

/** The results as lines of values with commas between them. Stateless. */
final class GrowthCsv {
  private GrowthCsv() {}

  static String of(Growth growth) {
    StringBuilder text = new StringBuilder("run,executors,maps,tasks,block bytes,pinned.max");
    growth.exponents().keySet().forEach(quantity -> text.append(',').append(quantity));
    text.append(",ms to all blocks,fallbacks,fallbacks of others\n");
    growth.growth().forEach(one -> append(text, "growth", growth, one));
    growth.incast().forEach(one -> append(text, "incast", growth, one));
    growth.waves().forEach(one -> append(text, "waves", growth, one));
    return text.toString();
  }

  private static void append(StringBuilder text, String run, Growth growth, SimulatedShuffle one) {
    SimulatedShuffle.Shape shape = one.shape();
    text.append(
        "%s,%d,%d,%d,%d,%d"
            .formatted(
                run,
                shape.executors(),
                shape.maps(),
                shape.tasks(),
                shape.blockBytes(),
                shape.pinnedBytes()));
    for (String quantity : growth.exponents().keySet()) {
      text.append(String.format(Locale.ROOT, ",%.3f", one.quantities().get(quantity)));
    }
    text.append(
        String.format(
            Locale.ROOT,
            ",%.3f,%d,%d%n",
            one.allBlocksMs(),
            sum(one.fallbacks()),
            sum(one.fallbacksOfOthers())));
  }

  private static long sum(Map<String, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }
}
