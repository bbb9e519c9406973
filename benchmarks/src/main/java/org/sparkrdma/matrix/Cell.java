// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.util.ArrayList;
import java.util.List;

/** One combination of Spark and Java. */
record Cell(SparkRelease spark, int java) {
  private static final List<Integer> JAVA_VERSIONS = List.of(17, 21, 25);

  /** Every combination, oldest first, also those that cannot run. */
  static List<Cell> all() {
    List<Cell> cells = new ArrayList<>();
    for (SparkRelease spark : SparkRelease.all()) {
      for (int java : JAVA_VERSIONS) {
        cells.add(new Cell(spark, java));
      }
    }
    return cells;
  }

  /** The name for {@code --cells}, such as {@code 3.5.9-2.12-17}. */
  String name() {
    return spark.version() + "-" + spark.scala() + "-" + java;
  }
}
