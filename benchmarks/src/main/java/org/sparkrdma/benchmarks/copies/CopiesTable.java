// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.TextTable;

/** The cases as a table of plain text. Stateless. */
final class CopiesTable {
  private CopiesTable() {}

  static String of(List<CopyCase> cases) {
    return "CPU time of one thread for each copy: median of the rounds; in brackets the ratio\n"
        + "positioned read / mapping of the rounds, median and range. Mappings have one guard for\n"
        + "each batch. Mapping and unmapping a file are in the last columns only.\n"
        + TextTable.of(rows(cases), column -> column == 0);
  }

  /** The headings first. */
  static List<List<String>> rows(List<CopyCase> cases) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "copies of a batch",
            "READ",
            "positioned read us",
            "mapping read before us",
            "new mapping us",
            "map us",
            "unmap us"));
    for (CopyCase one : cases) {
      rows.add(
          List.of(
              one.batch(),
              new DataSize(one.blockBytes()).toString(),
              us(one.readUs().median()),
              withRatio(one.mappedUs().median(), one.mappedRatio().format(2)),
              withRatio(one.newMappedUs().median(), one.newMappedRatio().format(2)),
              us(one.mapUs().median()),
              us(one.unmapUs().median())));
    }
    return rows;
  }

  private static String withRatio(double us, String ratio) {
    return "%s (%s)".formatted(us(us), ratio.replaceAll("[()]", "").replace(" ", ", "));
  }

  private static String us(double value) {
    return String.format(Locale.ROOT, value < 20 ? "%.2f" : "%.1f", value);
  }
}
