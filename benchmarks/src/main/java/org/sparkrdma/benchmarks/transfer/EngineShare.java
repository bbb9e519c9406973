// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.Serializable;
import java.util.Map;

/** Measurements of one executor for one engine in a round; the driver joins them. */
sealed interface EngineShare extends Serializable {
  /** The measured engine. */
  TransferEngine engine();

  /**
   * Measurements of the serving executor.
   *
   * @param sum sum over the bytes written
   * @param cpu CPU time while the other executor fetched
   * @param counters growth of the plug-in's counters, without zeros
   */
  record Served(TransferEngine engine, long sum, CpuTime cpu, Map<String, Long> counters)
      implements EngineShare {}

  /**
   * The copies alone, of the map outputs that this engine has served, measured in the serving
   * executor while no other runs.
   */
  record Copied(TransferEngine engine, CopyCost cost) implements EngineShare {}

  /**
   * Measurements of the fetching executor.
   *
   * @param bytes bytes fetched
   * @param ns wall time of the fetch
   * @param sum sum over the bytes read
   * @param cpu CPU time of the fetch
   * @param counters growth of the plug-in's counters, without zeros
   */
  record Fetched(
      TransferEngine engine, long bytes, long ns, long sum, CpuTime cpu, Map<String, Long> counters)
      implements EngineShare {}
}
