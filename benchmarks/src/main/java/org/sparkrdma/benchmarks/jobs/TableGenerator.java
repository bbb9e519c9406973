// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.Iterator;
import java.util.List;

/**
 * Rows of the tables of a benchmark as text. The same scale gives the same rows, whatever the
 * number of parts. Stateless.
 */
interface TableGenerator {
  /** Names of the tables. */
  List<String> tables();

  /** Columns with their types, as in Spark SQL. */
  String schema(String table);

  /** Whether it has so few rows at every scale that they are one part. */
  boolean isSmall(String table);

  /**
   * Lines of a part of a table, the columns separated by {@code |}; null values are empty.
   *
   * @param part from 1
   */
  Iterator<String> lines(String table, double scale, int part, int parts);
}
