// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The cells to run, and the reasons why others cannot run on this machine.
 *
 * @param toRun in the order of {@link Cell#all}
 * @param notRun the others, with the reason
 */
record CellSelection(List<Cell> toRun, List<NotRun> notRun) {
  /** A cell that is not run, for the report and the page. */
  record NotRun(String spark, String scala, String java, String reason) {}

  /**
   * @param names any of {@code all}, {@code oldest}, {@code newest} and names of cells
   * @param javaHomes homes of the JDKs on this machine, by version
   * @throws IllegalArgumentException in one sentence, when a name is unknown or a cell that is
   *     named cannot be run
   */
  static CellSelection of(List<String> names, Map<Integer, Path> javaHomes) {
    List<Cell> runnable = new ArrayList<>();
    List<NotRun> others = new ArrayList<>();
    for (Cell cell : Cell.all()) {
      Optional<String> reason = reasonNotToRun(cell, javaHomes);
      if (reason.isEmpty()) {
        runnable.add(cell);
      } else {
        others.add(
            new NotRun(
                cell.spark().version(),
                cell.spark().scala(),
                Integer.toString(cell.java()),
                reason.get()));
      }
    }
    if (runnable.isEmpty()) {
      throw new IllegalArgumentException(
          "no JDK of 17 or 25 found: install one, or name it in JAVA17_HOME or JAVA25_HOME");
    }
    Set<Cell> chosen = new LinkedHashSet<>();
    for (String name : names) {
      switch (name) {
        case "all" -> chosen.addAll(runnable);
        case "oldest" -> chosen.add(runnable.get(0));
        case "newest" -> chosen.add(runnable.get(runnable.size() - 1));
        default -> chosen.add(named(name, javaHomes));
      }
    }
    boolean whole = chosen.containsAll(runnable);
    return new CellSelection(
        runnable.stream().filter(chosen::contains).toList(), whole ? others : List.of());
  }

  private static Cell named(String name, Map<Integer, Path> javaHomes) {
    Cell cell =
        Cell.all().stream()
            .filter(one -> one.name().equals(name))
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "no such cell: '%s'; give all, oldest, newest or names as in %s"
                            .formatted(
                                name,
                                String.join(",", Cell.all().stream().map(Cell::name).toList()))));
    reasonNotToRun(cell, javaHomes)
        .ifPresent(
            reason -> {
              throw new IllegalArgumentException("cannot run " + name + ": " + reason);
            });
    return cell;
  }

  private static Optional<String> reasonNotToRun(Cell cell, Map<Integer, Path> javaHomes) {
    List<Integer> supported = cell.spark().supportedJava();
    if (!supported.contains(cell.java())) {
      return Optional.of(
          "Spark %s supports Java %s"
              .formatted(
                  cell.spark().version(),
                  String.join(", ", supported.stream().map(Object::toString).toList())));
    }
    return javaHomes.containsKey(cell.java())
        ? Optional.empty()
        : Optional.of("no JDK %d on this machine".formatted(cell.java()));
  }
}
