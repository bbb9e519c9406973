// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.Serializable;
import java.util.Map;

/** What one of the two executors of a round knows of one engine's part; joined in the driver. */
sealed interface EngineShare extends Serializable {
  /** Whose part it was. */
  TransferEngine engine();

  /**
   * Of the one that serves.
   *
   * @param sum over what was written
   * @param cpuNs while the other fetched
   * @param counters of the plug-in, what they grew by; zeros left out
   */
  record Served(TransferEngine engine, long sum, long cpuNs, Map<String, Long> counters)
      implements EngineShare {}

  /**
   * Of the one that fetches.
   *
   * @param bytes that it fetched
   * @param ns how long that took
   * @param sum over what was read
   * @param cpuNs in that time
   * @param counters of the plug-in, what they grew by; zeros left out
   */
  record Fetched(
      TransferEngine engine, long bytes, long ns, long sum, long cpuNs, Map<String, Long> counters)
      implements EngineShare {}
}
