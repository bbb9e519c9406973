// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.shuffle.pinned.MachineMemory;
import org.sparkrdma.shuffle.pinned.PinnedLimit;
import org.sparkrdma.shuffle.pinned.SparkMemory;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/**
 * Estimate of the memory that an executor with these settings may pin here. Without Spark only its
 * heap is read from them; other sizes are Spark's defaults.
 */
final class ExecutorMemory {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,12})\\s*([kmgt]?)b?");
  private static final long MIB = 1L << 20;
  private static final long MIN_OVERHEAD = 384 * MIB;
  private static final int OVERHEAD_PART = 10;

  private ExecutorMemory() {}

  static PinnedLimit limit(
      ShuffleSettings settings, SparkSettings spark, SystemFiles files, boolean hardware) {
    long heap = bytes(spark.value("spark.executor.memory", "1g"));
    MachineMemory machine =
        MachineMemory.under(files.root(), heap, Runtime.getRuntime().availableProcessors());
    long overhead = Math.max(MIN_OVERHEAD, heap / OVERHEAD_PART);
    SparkMemory memory =
        new SparkMemory(
            OptionalLong.empty(), 0, heap + overhead, OptionalLong.empty(), OptionalInt.empty());
    return PinnedLimit.of(settings.pinnedMaxBytes(), machine, memory, hardware);
  }

  /** A size as Spark writes it, in MiB without a unit; Spark's default where it is none. */
  private static long bytes(String text) {
    Matcher matcher = SIZE.matcher(text.trim().toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      return 1L << 30;
    }
    int shift =
        switch (matcher.group(2)) {
          case "k" -> 10;
          case "g" -> 30;
          case "t" -> 40;
          default -> 20;
        };
    return Long.parseLong(matcher.group(1)) << shift;
  }
}
