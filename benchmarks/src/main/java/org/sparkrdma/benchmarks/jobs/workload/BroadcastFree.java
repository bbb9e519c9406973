// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.workload;

import java.util.List;
import java.util.Locale;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkrdma.matrix.CustomerReport;

/**
 * The query of the version matrix on more rows: a sort-merge join (no table is broadcast), a
 * distinct count and two aggregations.
 */
public record BroadcastFree(int orders, int partitions) implements Workload {
  /** A row of the shuffles: keys and a digest of 64 digits. */
  private static final int ROW_BYTES = 100;

  /** Rows of orders and items, in the join and again in the aggregations. */
  private static final int ROWS_PER_ORDER = 6;

  /**
   * @param shape such as {@code 1000000x64}: orders, partitions
   */
  public static BroadcastFree parse(String shape) {
    Shape parts = Shape.parse(shape, 2);
    return new BroadcastFree(parts.count(0, 100, 499_999_999), parts.count(1, 1, 100_000));
  }

  @Override
  public String description() {
    return String.format(
        Locale.ROOT, "%,d orders with two items each, in %d partitions", orders, partitions);
  }

  @Override
  public long diskBytes() {
    return (long) orders * ROWS_PER_ORDER * ROW_BYTES;
  }

  @Override
  public int tasks() {
    return 2 * partitions;
  }

  @Override
  public PendingAnswer run(JavaSparkContext spark, String data) {
    List<String> answer = CustomerReport.rows(orders, partitions);
    return () -> ComputedAnswer.ofRows(answer);
  }
}
