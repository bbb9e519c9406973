// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.util.function.UnaryOperator;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.SparkMemory;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/**
 * The memory that an executor with these settings may pin here, by the executor's own rules. It is
 * an estimate where the executor runs in another container, or with other executors beside it.
 */
final class ExecutorMemory {
  private ExecutorMemory() {}

  static PinnedLimit limit(
      ShuffleSettings settings, SparkSettings spark, SystemFiles files, boolean hardware) {
    UnaryOperator<String> setting = spark.values()::get;
    try {
      return limit(settings, setting, files, hardware);
    } catch (IllegalArgumentException e) {
      // Spark refuses such a size or number itself.
      return limit(settings, key -> null, files, hardware);
    }
  }

  private static PinnedLimit limit(
      ShuffleSettings settings,
      UnaryOperator<String> setting,
      SystemFiles files,
      boolean hardware) {
    MachineMemory machine =
        MachineMemory.under(
            files.root(),
            SparkMemory.heapBytes(setting),
            Runtime.getRuntime().availableProcessors());
    return PinnedLimit.of(settings.pinnedMaxBytes(), machine, SparkMemory.of(setting), hardware);
  }
}
