// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A table of plain text with a line for each item. Confined to one thread.
 *
 * @param <T> what the lines describe
 */
public final class TextTable<T> {
  private final List<Column<T>> columns = new ArrayList<>();

  private record Column<T>(String heading, Function<T, String> cell, String alignment) {}

  /** Adds a column that is aligned on the left. */
  public TextTable<T> text(String heading, Function<T, String> cell) {
    columns.add(new Column<>(heading, cell, "-"));
    return this;
  }

  /** Adds a column that is aligned on the right. */
  public TextTable<T> number(String heading, Function<T, String> cell) {
    columns.add(new Column<>(heading, cell, ""));
    return this;
  }

  /** The headings, then the items. */
  public String of(Collection<T> items) {
    List<StringBuilder> lines =
        Stream.generate(StringBuilder::new).limit(items.size() + 1).toList();
    for (Column<T> column : columns) {
      List<String> cells =
          Stream.concat(Stream.of(column.heading), items.stream().map(column.cell)).toList();
      int width = cells.stream().mapToInt(String::length).max().orElseThrow();
      String form = "%" + column.alignment + width + "s  ";
      for (int i = 0; i < cells.size(); i++) {
        lines.get(i).append(form.formatted(cells.get(i)));
      }
    }
    return lines.stream()
        .map(line -> line.toString().stripTrailing() + "\n")
        .collect(Collectors.joining());
  }
}
