// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.sparkrdma.launch.TextTable;
import org.sparkrdma.soak.MemoryGrowth.Row;

/** Growth of the native memory of executors as plain text: a table for each executor. */
final class MemoryGrowthTable {
  /** Categories of the JVM whose memory changed by less are left out. */
  private static final double MIN_CHANGE_MIB = 1;

  private static final List<String> HEADINGS =
      List.of("native memory, MiB", "warm-up", "end", "growth", "per job");

  private MemoryGrowthTable() {}

  /**
   * @param executors the executors that are judged
   */
  static String of(List<LongLivedExecutor> executors, List<MemoryGrowth> growths) {
    StringBuilder text = new StringBuilder();
    for (LongLivedExecutor each : executors) {
      text.append("\nexecutor ").append(each.executor());
      text.append(
          growths.stream()
              .filter(growth -> growth.executor().equals(each.executor()))
              .findFirst()
              .map(MemoryGrowthTable::table)
              .orElse(": no two snapshots of its native memory\n"));
    }
    return text.toString();
  }

  private static String table(MemoryGrowth growth) {
    List<List<String>> rows = new ArrayList<>(List.of(HEADINGS));
    Stream.concat(
            growth.categories().stream().filter(row -> Math.abs(row.growthMib()) >= MIN_CHANGE_MIB),
            growth.totals().stream())
        .map(MemoryGrowthTable::cells)
        .forEach(rows::add);
    return ", from the end of the warm-up (%.0f s) to the end (%.0f s), %d jobs%s\n"
            .formatted(
                growth.fromSeconds(),
                growth.toSeconds(),
                growth.jobs(),
                growth.categories().isEmpty() ? ", without the JVM's account" : "")
        + TextTable.of(rows, column -> column == 0);
  }

  private static List<String> cells(Row row) {
    return List.of(
        row.memory(),
        number("%.1f", row.fromMib()),
        number("%.1f", row.toMib()),
        number("%+.1f", row.growthMib()),
        row.perJobMib() == null ? "" : number("%+.2f", row.perJobMib()));
  }

  private static String number(String format, double value) {
    return String.format(Locale.ROOT, format, value);
  }
}
