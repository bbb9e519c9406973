// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.sparkrdma.launch.MisuseException;

/** One combination of Spark and Java. */
record Cell(SparkRelease spark, int java) {
  /** Every combination that Spark supports, oldest first. */
  static List<Cell> all() {
    return SparkRelease.ALL.stream()
        .flatMap(spark -> spark.supportedJava().stream().map(java -> new Cell(spark, java)))
        .toList();
  }

  /**
   * The cells to run, in the order of {@link #all}.
   *
   * @param names any of {@code all}, {@code oldest}, {@code newest} and names of cells
   * @param javas versions of the JDKs on this machine
   * @throws MisuseException when a cell cannot be run
   */
  static List<Cell> select(List<String> names, Set<Integer> javas) {
    List<Cell> runnable = all().stream().filter(cell -> javas.contains(cell.java)).toList();
    if (runnable.isEmpty()) {
      throw new MisuseException(
          "no JDK of 17 or 25 found: install one, or name it in JAVA17_HOME or JAVA25_HOME");
    }
    Set<Cell> chosen = new LinkedHashSet<>();
    for (String name : names) {
      switch (name) {
        case "all" -> chosen.addAll(runnable);
        case "oldest" -> chosen.add(runnable.get(0));
        case "newest" -> chosen.add(runnable.get(runnable.size() - 1));
        default -> chosen.add(named(name, runnable));
      }
    }
    return runnable.stream().filter(chosen::contains).toList();
  }

  private static Cell named(String name, List<Cell> runnable) {
    return runnable.stream()
        .filter(cell -> cell.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new MisuseException(
                    "cannot run '%s' on this machine; give all, oldest, newest or names as in %s"
                        .formatted(
                            name, String.join(",", runnable.stream().map(Cell::name).toList()))));
  }

  /** The name for {@code --cells}, such as {@code 3.5.9-2.12-17}. */
  String name() {
    return spark.version() + "-" + spark.scala() + "-" + java;
  }

  /**
   * A version of Spark that the plug-in is run on.
   *
   * @param version such as 3.5.9
   * @param scala its Scala version, such as 2.12
   * @param supportedJava the Java versions from 17 on that Spark's own documentation names
   * @param byPlugin whether the cells of this version set only {@code spark.plugins}, and take the
   *     jar from {@code --jars}; the others set the shuffle manager and the class path of all JVMs
   */
  record SparkRelease(String version, String scala, List<Integer> supportedJava, boolean byPlugin) {
    /** Oldest first. */
    private static final List<SparkRelease> ALL =
        List.of(
            new SparkRelease("3.5.9", "2.12", List.of(17), true),
            new SparkRelease("3.5.9", "2.13", List.of(17), false),
            new SparkRelease("4.0.4", "2.13", List.of(17, 21), true),
            new SparkRelease("4.1.3", "2.13", List.of(17, 21), true),
            new SparkRelease("4.2.0", "2.13", List.of(17, 21, 25), true));
  }
}
