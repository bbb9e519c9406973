// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.counters;

import java.util.Map;

/** Source of the statistics that the driver of a network interface has; not in {@code /sys}. */
@FunctionalInterface
public interface NetworkStatistics {
  /**
   * All statistics of an interface.
   *
   * @param network name of the interface
   */
  Answer of(String network);

  /**
   * Statistics, or the reason why there are none.
   *
   * @param values by name; empty with a failure
   * @param failure in a few words; empty with values
   */
  record Answer(Map<String, Long> values, String failure) {
    static Answer failed(String reason) {
      return new Answer(Map.of(), reason);
    }
  }
}
