// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.sparkrdma.launch.TextTable;

/** The results as plain text. Stateless. */
final class GrowthTable {
  private static final double MIB = 1 << 20;

  private GrowthTable() {}

  static String of(Growth growth) {
    return "one executor of N, simulated; exponents e of N^e\n"
        + TextTable.of(rows(growth), column -> column == 0)
        + "\nmessages that it sends to its peers\n"
        + TextTable.of(messages(growth), column -> column == 0)
        + "\nincast\n"
        + incast(growth)
        + "\nall tasks of a shuffle, in waves\n"
        + waves(growth);
  }

  /** The quantities with their exponents and values, the headings first. */
  static List<List<String>> rows(Growth growth) {
    List<List<String>> rows = new ArrayList<>();
    List<String> headings =
        new ArrayList<>(
            List.of(
                "of one executor",
                "exponent fitted to all N",
                "exponent " + growth.lastInterval()));
    growth.growth().forEach(one -> headings.add("N = %,d".formatted(one.shape().executors())));
    rows.add(headings);
    growth
        .exponents()
        .forEach(
            (quantity, exponents) -> {
              List<String> row = new ArrayList<>();
              row.add(quantity);
              row.add(exponent(exponents.fitted()));
              row.add(exponent(exponents.last()));
              growth.growth().forEach(one -> row.add(number(one.quantities().get(quantity))));
              rows.add(row);
            });
    return rows;
  }

  /** The numbers of messages of each type, the headings first. */
  static List<List<String>> messages(Growth growth) {
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("message"));
    Set<String> types = new TreeSet<>();
    for (SimulatedShuffle one : growth.growth()) {
      headings.add("N = %,d".formatted(one.shape().executors()));
      types.addAll(one.messagesByType().keySet());
    }
    rows.add(headings);
    for (String type : types) {
      List<String> row = new ArrayList<>(List.of(type));
      growth.growth().forEach(one -> row.add(number(one.messagesByType().getOrDefault(type, 0L))));
      rows.add(row);
    }
    return rows;
  }

  /** Two decimals, without the sign of a zero. */
  static String exponent(double value) {
    return String.format(Locale.ROOT, "%.2f", Math.round(value * 100) / 100.0);
  }

  static String number(double value) {
    return String.format(Locale.ROOT, value == Math.rint(value) ? "%,.0f" : "%.2f", value);
  }

  /** One line for each incast. */
  static String incast(Growth growth) {
    StringBuilder text = new StringBuilder();
    for (SimulatedShuffle one : growth.incast()) {
      SimulatedShuffle.Shape shape = one.shape();
      text.append(
          String.format(
              Locale.ROOT,
              "%d servers, %d tasks, pinned.max %d MiB: at most %.1f MiB of READs in flight, %.1f ms for"
                  + " %d blocks of %d KiB, fallbacks %s, of the servers as readers %s, waits for"
                  + " memory %s, longest %.1f ms%n",
              shape.executors() - 1,
              shape.tasks(),
              shape.pinnedBytes() >> 20,
              one.maxReadBytesInFlight() / MIB,
              one.allBlocksMs(),
              one.blocks(),
              shape.blockBytes() >> 10,
              one.fallbacks(),
              one.fallbacksOfOthers(),
              one.memoryWaits(),
              one.longestMemoryWaitMs()));
    }
    return text.toString();
  }

  /** One line for each shuffle in waves. */
  static String waves(Growth growth) {
    StringBuilder text = new StringBuilder();
    for (SimulatedShuffle one : growth.waves()) {
      SimulatedShuffle.Shape shape = one.shape();
      text.append(
          String.format(
              Locale.ROOT,
              "%,d executors, %,d x %,d blocks of %d KiB, %d waves of %d tasks,"
                  + " pinned.max %,d MiB: %,d blocks read and"
                  + " %,d served in %.1f ms, %,d connections, at most %.1f MiB pinned and %.1f MiB of"
                  + " READs in flight, %.3f messages and %.3f steps for each block, fallbacks %s, of"
                  + " the others %s%n",
              shape.executors(),
              shape.maps(),
              shape.partitions(),
              shape.blockBytes() >> 10,
              shape.waves(),
              shape.tasks(),
              shape.pinnedBytes() >> 20,
              one.blocks(),
              one.served(),
              one.allBlocksMs(),
              one.connections(),
              one.highestPinnedBytes() / MIB,
              one.maxReadBytesInFlight() / MIB,
              one.forEachBlock(one.messages()),
              one.forEachBlock(one.work()),
              one.fallbacks(),
              one.fallbacksOfOthers()));
    }
    return text.toString();
  }
}
